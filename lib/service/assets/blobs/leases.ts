// Leases of blobs as database rows, for a store that several processes share. A leased blob isn't removed.

import { randomUUID } from "node:crypto";
import { type ServiceLog } from "@/lib/service/options";
import { ServiceError } from "@/lib/service/service-error";
import { type Database, query, type Reader, type Transaction } from "@/lib/service/store/database";
import { type Processes } from "@/lib/service/store/processes";
import { sleep } from "@/lib/shared/async";
import { type BlobHolds } from "../blob-store";

/** Longer than any upload to the store takes. */
const HOLD_MS = 24 * 60 * 60_000;
/** Several times longer than a removal may take, so that clocks need not agree. */
const REMOVAL_MS = 15 * 60_000;
const ASK_AGAIN_MS = 200;
const PATIENCE_MS = 20_000;

type Parts = {
  database: Database;
  processes: Pick<Processes, "id" | "live" | "lingersMs">;
  named: (reader: Reader, hashes: readonly string[]) => Promise<ReadonlySet<string>>;
  now: () => number;
  log: ServiceLog;
};

const holderOf = (processId: string) => `${processId} ${randomUUID()}`;
const processOf = (holder: string) => holder.split(" ")[0] ?? "";

/** Deletes leases of processes that are no longer alive, once none of these can still be at work. */
export async function removeDeadLeases({ database, processes, now }: Pick<Parts, "database" | "processes" | "now">): Promise<void> {
  const leases = await database.rows(query.selectFrom("blob_leases").select(["holder", "until", "is_removal"]));
  if (leases.length === 0) return;
  // Read after the leases: a process that has started since holds none of them.
  const living = await processes.live();
  const latest = now() - processes.lingersMs;
  const dead = leases.filter(
    ({ holder, until, is_removal }) => !living.includes(processOf(holder)) && until - (is_removal ? REMOVAL_MS : HOLD_MS) <= latest,
  );
  const holders = dead.map(({ holder }) => holder);
  if (dead.length === 0) return;
  await database.commitFreeing((tx) => tx.run(query.deleteFrom("blob_leases").where("holder", "in", tx.dialect.texts(holders))));
}

export function createLeases({ database, processes, named, now, log }: Parts): BlobHolds {
  const isNamed = async (reader: Reader, hash: string) => (await named(reader, [hash])).has(hash);

  async function isLeased(tx: Transaction, hashes: readonly string[], removalsOnly: boolean): Promise<boolean> {
    await tx.run(query.deleteFrom("blob_leases").where("until", "<=", now()));
    const leases = query.selectFrom("blob_leases").select("hash").where("hash", "in", hashes).limit(1);
    return (await tx.row(removalsOnly ? leases.where("is_removal", "=", 1) : leases)) !== undefined;
  }

  async function write(tx: Transaction, hashes: readonly string[], holder: string, isRemoval: boolean): Promise<void> {
    const until = now() + (isRemoval ? REMOVAL_MS : HOLD_MS);
    await tx.run(query.insertInto("blob_leases").values(hashes.map((hash) => ({ hash, holder, is_removal: Number(isRemoval), until }))));
  }

  const release = (holder: string) =>
    database
      .commitFreeing((tx) => tx.run(query.deleteFrom("blob_leases").where("holder", "=", holder)))
      .catch((error: unknown) => void log.warn({ err: error }, "blob lease release failed"));

  return {
    async hold(hashes, work) {
      const uniqueHashes = [...new Set(hashes)];
      if (uniqueHashes.length === 0) return work();
      const holder = holderOf(processes.id);
      const take = () =>
        database.commit(async (tx) => {
          if (await isLeased(tx, uniqueHashes, true)) return false;
          await write(tx, uniqueHashes, holder, false);
          return true;
        });
      for (let waited = 0; !(await take()); waited += ASK_AGAIN_MS) {
        if (waited >= PATIENCE_MS) throw new ServiceError("SERVICE_UNAVAILABLE", "The same bytes are being removed. Try again in a while.");
        await sleep(ASK_AGAIN_MS);
      }
      try {
        return await work();
      } finally {
        // Not awaited: commits of this process that follow come after it.
        void release(holder);
      }
    },

    async removeUnused(hash, remove) {
      if (await isNamed(database, hash)) return false;
      const holder = holderOf(processes.id);
      let isRemoved = false;
      try {
        const isFree = await database.commitFreeing(async (tx) => {
          if ((await isNamed(tx, hash)) || (await isLeased(tx, [hash], false))) return false;
          await write(tx, [hash], holder, true);
          return true;
        });
        if (!isFree) return false;
        await remove();
        isRemoved = true;
      } catch (error) {
        log.warn({ err: error, hash }, "unused blob removal failed");
        // A removal that was sent and not answered may still happen: its lease ends by itself.
        if (error instanceof Error && "isSettled" in error && error.isSettled === false) return false;
      }
      await release(holder);
      return isRemoved;
    },
  };
}
