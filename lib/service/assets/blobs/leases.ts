// Blob leases in the database, for a store that several processes share. Leased blobs aren't removed.

import { randomUUID } from "node:crypto";
import { type ServiceLog } from "@/lib/service/options";
import { ServiceError } from "@/lib/service/service-error";
import { type Database, query, type Reader, type Transaction } from "@/lib/service/store/database";
import { type Processes } from "@/lib/service/store/processes";
import { sleep } from "@/lib/shared/async";
import { type BlobHolds } from "../blob-store";

/** Longer than any upload to the store takes. */
const HOLD_LEASE_MS = 24 * 60 * 60_000;
/** Several times longer than a removal takes, to tolerate clock skew. */
const REMOVAL_LEASE_MS = 15 * 60_000;
const RETRY_MS = 200;
const MAX_WAIT_MS = 20_000;

type LeaseOptions = {
  database: Database;
  processes: Pick<Processes, "id" | "listLive" | "lingerMs">;
  findReferenced: (reader: Reader, hashes: readonly string[]) => Promise<ReadonlySet<string>>;
  now: () => number;
  log: ServiceLog;
};

const createHolderId = (processId: string) => `${processId} ${randomUUID()}`;
const getProcessId = (holder: string) => holder.split(" ")[0] ?? "";

/** Deletes leases of processes that are no longer alive, once they can't be writing any more. */
export async function removeDeadLeases({ database, processes, now }: Pick<LeaseOptions, "database" | "processes" | "now">): Promise<void> {
  const leases = await database.rows(query.selectFrom("blob_leases").select(["holder", "until", "is_removal"]));
  if (leases.length === 0) return;
  // Read after the leases, because a process that started later has none of them.
  const liveProcesses = await processes.listLive();
  const latestStartMs = now() - processes.lingerMs;
  const deadLeases = leases.filter(
    ({ holder, until, is_removal }) =>
      !liveProcesses.includes(getProcessId(holder)) && until - (is_removal ? REMOVAL_LEASE_MS : HOLD_LEASE_MS) <= latestStartMs,
  );
  const holders = deadLeases.map(({ holder }) => holder);
  if (deadLeases.length === 0) return;
  await database.commitWithReserve((tx) => tx.run(query.deleteFrom("blob_leases").where("holder", "in", tx.dialect.texts(holders))));
}

export function createLeases({ database, processes, findReferenced, now, log }: LeaseOptions): BlobHolds {
  const isReferenced = async (reader: Reader, hash: string) => (await findReferenced(reader, [hash])).has(hash);

  async function isLeased(tx: Transaction, hashes: readonly string[], isRemovalOnly: boolean): Promise<boolean> {
    await tx.run(query.deleteFrom("blob_leases").where("until", "<=", now()));
    const leases = query.selectFrom("blob_leases").select("hash").where("hash", "in", hashes).limit(1);
    return (await tx.row(isRemovalOnly ? leases.where("is_removal", "=", 1) : leases)) !== undefined;
  }

  async function insertLeases(tx: Transaction, hashes: readonly string[], holder: string, isRemoval: boolean): Promise<void> {
    const expiresAt = now() + (isRemoval ? REMOVAL_LEASE_MS : HOLD_LEASE_MS);
    const leases = hashes.map((hash) => ({ hash, holder, is_removal: Number(isRemoval), until: expiresAt }));
    await tx.run(query.insertInto("blob_leases").values(leases));
  }

  const release = (holder: string) =>
    database
      .commitWithReserve((tx) => tx.run(query.deleteFrom("blob_leases").where("holder", "=", holder)))
      .catch((error: unknown) => void log.warn({ err: error }, "blob lease release failed"));

  return {
    async hold(hashes, callback) {
      const uniqueHashes = [...new Set(hashes)];
      if (uniqueHashes.length === 0) return callback();
      const holder = createHolderId(processes.id);
      const acquire = () =>
        database.commit(async (tx) => {
          if (await isLeased(tx, uniqueHashes, true)) return false;
          await insertLeases(tx, uniqueHashes, holder, false);
          return true;
        });
      for (let waitedMs = 0; !(await acquire()); waitedMs += RETRY_MS) {
        if (waitedMs >= MAX_WAIT_MS)
          throw new ServiceError("SERVICE_UNAVAILABLE", "The same content is being removed. Try again in a moment.");
        await sleep(RETRY_MS);
      }
      try {
        return await callback();
      } finally {
        // Not awaited, because later commits of this process run after it.
        void release(holder);
      }
    },

    async removeUnused(hash, remove) {
      if (await isReferenced(database, hash)) return false;
      const holder = createHolderId(processes.id);
      let isRemoved = false;
      try {
        const isAcquired = await database.commitWithReserve(async (tx) => {
          if ((await isReferenced(tx, hash)) || (await isLeased(tx, [hash], false))) return false;
          await insertLeases(tx, [hash], holder, true);
          return true;
        });
        if (!isAcquired) return false;
        await remove();
        isRemoved = true;
      } catch (error) {
        log.warn({ err: error, hash }, "unused blob removal failed");
        // A removal whose response was lost may still happen, so its lease is left to expire.
        if (error instanceof Error && "isSettled" in error && error.isSettled === false) return false;
      }
      await release(holder);
      return isRemoved;
    },
  };
}
