// Runs background chores repeatedly. A failed run is logged and retried.

import { readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { sleep } from "@/lib/shared/async";
import { type BlobStore } from "./assets/blob-store";
import { findExistingHashes } from "./assets/change-asset";
import { type Thumbnails } from "./assets/thumbnails";
import { type ServiceLog } from "./options";
import { type Database, query, type Transaction } from "./store/database";
import { type Processes } from "./store/processes";

/** `canContinue` returns false once the service stops. `isShared`: only the first live process runs the chore. */
export type Chore = { name: string; everyMs: number; isShared?: boolean; run: (canContinue: () => boolean) => Promise<unknown> };

type Housekeeping = { stop(): Promise<void> };

export function startHousekeeping(chores: readonly Chore[], processes: Pick<Processes, "id" | "listLive">, log: ServiceLog): Housekeeping {
  let isStopping = false;
  const pendingRuns = new Map<Chore, Promise<void>>();

  function runChore(chore: Chore): void {
    if (isStopping || pendingRuns.has(chore)) return;
    const pendingRun = runIfResponsible(chore)
      .catch((error: unknown) => log.error({ err: error, chore: chore.name }, "housekeeping failed"))
      .finally(() => pendingRuns.delete(chore));
    pendingRuns.set(chore, pendingRun);
  }

  async function runIfResponsible({ isShared = false, run }: Chore): Promise<void> {
    if (!isShared || (await isFirstProcess(processes))) await run(() => !isStopping);
  }

  const timers = chores.map((chore) => {
    runChore(chore);
    return setInterval(() => runChore(chore), chore.everyMs).unref();
  });
  return {
    async stop() {
      isStopping = true;
      timers.forEach(clearInterval);
      await Promise.all(pendingRuns.values());
    },
  };
}

/** True if this process runs the shared chores. Right after a process joins, two processes may run the same chore. */
async function isFirstProcess(processes: Pick<Processes, "id" | "listLive">): Promise<boolean> {
  const [firstId] = await processes.listLive();
  return firstId === processes.id;
}

/** Runs `step` until it returns false. Pauses after each run for as long as it took. */
export async function runWithPauses(canContinue: () => boolean, step: () => Promise<boolean>): Promise<void> {
  while (canContinue()) {
    const startedMs = performance.now();
    if (!(await step())) return;
    await sleep(performance.now() - startedMs);
  }
}

export async function emptyFolder(folder: string): Promise<void> {
  for (const name of await readdir(folder)) await rm(join(folder, name), { recursive: true, force: true });
}

type SweepDependencies = {
  database: Database;
  processes: Pick<Processes, "id" | "listLive">;
  blobs: Pick<BlobStore, "sweep" | "sweepCache">;
  thumbnails: Pick<Thumbnails, "sweep">;
};

/** The first process sweeps shared files; each process sweeps its own caches. Returns the number of removed files. */
export async function sweep({ database, processes, blobs, thumbnails }: SweepDependencies, canContinue: () => boolean): Promise<number> {
  const removedBlobs = (await isFirstProcess(processes)) ? await sweepBlobs({ database, blobs }, canContinue) : 0;
  if (!canContinue()) return removedBlobs;
  return removedBlobs + (await blobs.sweepCache()) + (await thumbnails.sweep((hashes) => findExistingHashes(database, hashes)));
}

async function sweepBlobs({ database, blobs }: Pick<SweepDependencies, "database" | "blobs">, canContinue: () => boolean): Promise<number> {
  let lastHash: string | undefined = "";
  await runWithPauses(canContinue, async () => {
    lastHash = await database.commitWithReserve((tx) => removeUnreferencedRows(tx, lastHash ?? ""));
    return lastHash !== undefined;
  });
  return canContinue() ? blobs.sweep(canContinue) : 0;
}

const BATCH_SIZE = 100;

async function removeUnreferencedRows(tx: Transaction, previousHash: string): Promise<string | undefined> {
  const batchQuery = query.selectFrom("blobs").select("hash").where("hash", ">", previousHash).orderBy("hash").limit(BATCH_SIZE);
  const lastHash = (await tx.rows(batchQuery)).at(-1)?.hash;
  if (lastHash === undefined) return undefined;
  const deleteUnreferenced = query
    .deleteFrom("blobs")
    .where("hash", ">", previousHash)
    .where("hash", "<=", lastHash)
    .where(({ not, exists, selectFrom }) =>
      not(exists(selectFrom("assets").select("assets.seq").whereRef("assets.hash", "=", "blobs.hash"))),
    )
    .where(({ not, exists, selectFrom }) =>
      not(exists(selectFrom("user_files").select("path").whereRef("user_files.hash", "=", "blobs.hash"))),
    )
    .where(({ not, exists, selectFrom }) =>
      not(exists(selectFrom("job_images").select("job_seq").whereRef("job_images.hash", "=", "blobs.hash"))),
    );
  await tx.run(deleteUnreferenced);
  return lastHash;
}
