// Leases of blobs as database rows, for a store that several processes share. Leased blobs aren't removed.

import { randomUUID } from "node:crypto";
import { type ServiceLog } from "@/lib/service/options";
import { ServiceError } from "@/lib/service/service-error";
import { type Database, query, type Reader, type Transaction } from "@/lib/service/store/database";
import { type Processes } from "@/lib/service/store/processes";
import { sleep } from "@/lib/shared/async";
import { type BlobHolds } from "../blob-store";

/** Longer than any upload to the store takes. */
const HOLD_LEASE_MS = 24 * 60 * 60_000;
/** Several times longer than a removal takes, so that clocks may differ. */
const REMOVAL_LEASE_MS = 15 * 60_000;
const RETRY_MS = 200;
const MAX_WAIT_MS = 20_000;

type LeaseOptions = {
  database: Database;
  processes: Pick<Processes, "id" | "live" | "lingersMs">;
  named: (reader: Reader, hashes: readonly string[]) => Promise<ReadonlySet<string>>;
  now: () => number;
  log: ServiceLog;
};

const createHolderId = (processId: string) => `${processId} ${randomUUID()}`;
const getProcessId = (holder: string) => holder.split(" ")[0] ?? "";

/** Deletes leases of processes that are no longer alive, once they can't be working any more. */
export async function removeDeadLeases({ database, processes, now }: Pick<LeaseOptions, "database" | "processes" | "now">): Promise<void> {
  const leases = await database.rows(query.selectFrom("blob_leases").select(["holder", "until", "is_removal"]));
  if (leases.length === 0) return;
  // Read after the leases, because a process that has started since has none of them.
  const liveProcesses = await processes.live();
  const latestStartMs = now() - processes.lingersMs;
  const dead = leases.filter(
    ({ holder, until, is_removal }) =>
      !liveProcesses.includes(getProcessId(holder)) && until - (is_removal ? REMOVAL_LEASE_MS : HOLD_LEASE_MS) <= latestStartMs,
  );
  const holders = dead.map(({ holder }) => holder);
  if (dead.length === 0) return;
  await database.commitFreeing((tx) => tx.run(query.deleteFrom("blob_leases").where("holder", "in", tx.dialect.texts(holders))));
}

export function createLeases({ database, processes, named, now, log }: LeaseOptions): BlobHolds {
  const isReferenced = async (reader: Reader, hash: string) => (await named(reader, [hash])).has(hash);

  async function isLeased(tx: Transaction, hashes: readonly string[], removalsOnly: boolean): Promise<boolean> {
    await tx.run(query.deleteFrom("blob_leases").where("until", "<=", now()));
    const leases = query.selectFrom("blob_leases").select("hash").where("hash", "in", hashes).limit(1);
    return (await tx.row(removalsOnly ? leases.where("is_removal", "=", 1) : leases)) !== undefined;
  }

  async function write(tx: Transaction, hashes: readonly string[], holder: string, isRemoval: boolean): Promise<void> {
    const until = now() + (isRemoval ? REMOVAL_LEASE_MS : HOLD_LEASE_MS);
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
      const holder = createHolderId(processes.id);
      const take = () =>
        database.commit(async (tx) => {
          if (await isLeased(tx, uniqueHashes, true)) return false;
          await write(tx, uniqueHashes, holder, false);
          return true;
        });
      for (let waited = 0; !(await take()); waited += RETRY_MS) {
        if (waited >= MAX_WAIT_MS) throw new ServiceError("SERVICE_UNAVAILABLE", "The same bytes are being removed. Try again in a while.");
        await sleep(RETRY_MS);
      }
      try {
        return await work();
      } finally {
        // Not awaited, because later commits of this process are executed after it.
        void release(holder);
      }
    },

    async removeUnused(hash, remove) {
      if (await isReferenced(database, hash)) return false;
      const holder = createHolderId(processes.id);
      let isRemoved = false;
      try {
        const isFree = await database.commitFreeing(async (tx) => {
          if ((await isReferenced(tx, hash)) || (await isLeased(tx, [hash], false))) return false;
          await write(tx, [hash], holder, true);
          return true;
        });
        if (!isFree) return false;
        await remove();
        isRemoved = true;
      } catch (error) {
        log.warn({ err: error, hash }, "unused blob removal failed");
        // A removal that was sent without a response may still happen, so its lease expires by itself.
        if (error instanceof Error && "isSettled" in error && error.isSettled === false) return false;
      }
      await release(holder);
      return isRemoved;
    },
  };
}
