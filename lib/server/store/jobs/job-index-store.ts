// Writes the job index, which contains the newest `maxJobs` jobs of each connection. A row and its search entry are written together.
// Keys are bigints, because they don't fit into a double.

import "server-only";
import { createHash } from "node:crypto";
import { type Kysely, sql } from "kysely";
import { writeExactJson } from "@/lib/contract/json/exact-json";
import { createLru } from "@/lib/shared/lru";
import { type Database } from "../database";
import { getDialect } from "../dialect";
import { type Tables } from "../tables";
import {
  type ExistingRow,
  findSubmitters,
  getFirstKey,
  type JobUpdate,
  KEY_MS,
  mergeJobUpdate,
  readStoredJobs,
  type StoredJob,
  toRow,
  toSearchEntry,
} from "./index-entry";
import { recordUsage } from "./job-usage";

type CachedUpdate = { jobId: string; inputs?: string };

const MAX_UNHASHED_LENGTH = 500;
const CACHE_MS = 5 * 60_000;

function createWrittenUpdateCache(now: () => number = Date.now) {
  const lastWrites = createLru<string, { content: string; atMs: number }>({ max: 10_000 });
  const toCacheKey = (number: number, { jobId }: CachedUpdate) => `${number} ${jobId}`;

  return {
    /** Returns the updates that were not written recently. */
    selectNew<T extends CachedUpdate>(number: number, updates: readonly T[]): T[] {
      return updates.filter((update) => {
        const lastWrite = lastWrites.get(toCacheKey(number, update));
        return !lastWrite || now() - lastWrite.atMs > CACHE_MS || lastWrite.content !== toComparableText(update);
      });
    },

    /** Records a written update, so that an equal one is skipped. */
    add(number: number, update: CachedUpdate): void {
      const cacheKey = toCacheKey(number, update);
      // Inputs are reported only once.
      if (update.inputs !== undefined) lastWrites.delete(cacheKey);
      else lastWrites.set(cacheKey, { content: toComparableText(update), atMs: now() });
    },

    /** Call after rows were removed, because updates about them must be written again. */
    clear: () => lastWrites.clear(),
  };
}

/** Long texts, such as errors, are hashed. */
function toComparableText(update: CachedUpdate): string {
  const text = writeExactJson(update);
  return text.length <= MAX_UNHASHED_LENGTH ? text : createHash("sha256").update(text).digest("base64");
}

export type IndexCoverage = {
  newestMs?: number;
  cursorMs?: number;
  nextOffset?: number;
  isComplete: boolean;
  isBounded: boolean;
  sweptAt?: number;
};
export type JobIndexStore = ReturnType<typeof createJobIndexStore>;

const DELETE_BATCH_SIZE = 500;

/** Returns the number that represents a connection in the keys of its jobs. */
export async function findConnectionNumber(database: Database, connectionId: string): Promise<number | undefined> {
  const query = database.selectFrom("ledgerConnections").select("number").where("connectionId", "=", connectionId);
  return (await query.executeTakeFirst())?.number;
}

export function createJobIndexStore(database: Database) {
  const { runExclusive, selectTextRows } = getDialect(database);
  const writtenUpdates = createWrittenUpdateCache();

  async function ensureConnectionNumber(connectionId: string): Promise<number | undefined> {
    const number = await findConnectionNumber(database, connectionId);
    if (number !== undefined) return number;
    // Inserts only if the connection exists, because a response may arrive after it was removed.
    await sql`INSERT INTO ledger_connections (connection_id) SELECT id FROM connections WHERE id = ${connectionId} ON CONFLICT DO NOTHING`.execute(
      database,
    );
    return findConnectionNumber(database, connectionId);
  }
  /** Serializes work that reads and then writes or deletes rows of a connection. */
  const runLocked = <T>(number: number, work: (trx: Kysely<Tables>) => Promise<T>) => runExclusive(database, `ledger ${number}`, work);

  return {
    async recordJobs(connectionId: string, updates: readonly JobUpdate[], maxJobs: number): Promise<void> {
      const number = await ensureConnectionNumber(connectionId);
      const newUpdates = number === undefined ? [] : writtenUpdates.selectNew(number, updates);
      if (number === undefined || newUpdates.length === 0) return;
      const result = await runLocked(number, async (trx) => {
        const count = await countJobs(trx, number);
        const oldestMs = count >= maxJobs ? await findOldestMs(trx, number) : undefined;
        const ids = newUpdates.map(({ jobId }) => jobId);
        const storedJobs = await readStoredJobs(trx, number, ids);
        const unknownJobIds = newUpdates
          .filter(({ jobId, memberId }) => !storedJobs.has(jobId) && memberId === undefined)
          .map(({ jobId }) => jobId);
        const submitters = await findSubmitters(trx, connectionId, unknownJobIds);
        const nextKeys = new Map<bigint, bigint>();
        const changes = { addedCount: 0, skippedCount: 0, writtenUpdates: new Array<JobUpdate>() };
        for (const jobUpdate of newUpdates) {
          const storedJob = storedJobs.get(jobUpdate.jobId);
          if (!storedJob && (jobUpdate.isUpdateOnly || !jobUpdate.item)) continue;
          const updatedJob = mergeJobUpdate(storedJob, { memberId: submitters.get(jobUpdate.jobId)?.memberId, ...jobUpdate });
          if (!storedJob && oldestMs !== undefined && updatedJob.createdMs < oldestMs) {
            changes.skippedCount += 1;
            continue;
          }
          const row = toRow(updatedJob);
          const isChanged =
            !storedJob || storedJob.createdMs !== updatedJob.createdMs || writeExactJson(toRow(storedJob)) !== writeExactJson(row);
          const key = isChanged ? await writeRow(trx, number, storedJob, updatedJob, { row, nextKeys }) : storedJob.key;
          if (isChanged)
            await recordUsage(trx, connectionId, {
              token: submitters.get(jobUpdate.jobId)?.token,
              ...updatedJob,
              ...(jobUpdate.token !== undefined && { token: jobUpdate.token }),
            });
          if (!storedJob) changes.addedCount += 1;
          changes.writtenUpdates.push(jobUpdate);
          storedJobs.set(jobUpdate.jobId, { ...updatedJob, key });
        }
        const surplusCount = Math.min(DELETE_BATCH_SIZE, count + changes.addedCount - maxJobs);
        if (surplusCount > 0) await sql`DELETE FROM ledger_jobs WHERE key IN (${selectOldestKeys(number, surplusCount)})`.execute(trx);
        if (surplusCount > 0 || changes.skippedCount > 0) {
          await trx.updateTable("ledgerConnections").set({ isBounded: true }).where("number", "=", number).execute();
        }
        await addToCount(trx, number, changes.addedCount - Math.max(0, surplusCount));
        return { ...changes, surplusCount };
      });
      if (result.surplusCount > 0) writtenUpdates.clear();
      for (const update of result.writtenUpdates) writtenUpdates.add(number, update);
    },

    async remove(connectionId: string, ids: readonly string[]): Promise<void> {
      const number = await findConnectionNumber(database, connectionId);
      for (let offset = 0; number !== undefined && offset < ids.length; offset += DELETE_BATCH_SIZE) {
        const batch = ids.slice(offset, offset + DELETE_BATCH_SIZE);
        await runLocked(number, async (trx) => {
          const deletion = trx.deleteFrom("ledgerJobs").where("number", "=", number).where("jobId", "in", batch);
          await addToCount(trx, number, -Number((await deletion.executeTakeFirst()).numDeletedRows));
        });
        writtenUpdates.clear();
      }
    },

    /** Deletes jobs between two times that the service's list does not contain. Returns true if there may be more of them. */
    async removeAbsent(connectionId: string, { afterMs, beforeMs, present }: ListedRange): Promise<boolean> {
      const number = await findConnectionNumber(database, connectionId);
      if (number === undefined) return false;
      const removedCount = await runLocked(number, async (trx) => {
        const { numAffectedRows } = await sql`
          DELETE FROM ledger_jobs WHERE key IN (
            SELECT key FROM ledger_jobs
            WHERE key >= ${getFirstKey(number, afterMs + 1)} AND key < ${getFirstKey(number, beforeMs)} AND is_exact = 1
              AND job_id NOT IN (SELECT value FROM ${selectTextRows(present)})
            LIMIT ${DELETE_BATCH_SIZE})`.execute(trx);
        await addToCount(trx, number, -Number(numAffectedRows ?? 0n));
        return Number(numAffectedRows ?? 0n);
      });
      if (removedCount > 0) writtenUpdates.clear();
      return removedCount >= DELETE_BATCH_SIZE;
    },

    async getCoverage(connectionId: string): Promise<IndexCoverage & { unread: number }> {
      const row = await database.selectFrom("ledgerConnections").selectAll().where("connectionId", "=", connectionId).executeTakeFirst();
      if (!row) return { isComplete: false, isBounded: false, unread: 0 };
      const { rows } = await sql<{ n: number }>`
        SELECT count(*) AS n FROM ledger_jobs WHERE number = ${row.number} AND inputs IS NULL`.execute(database);
      return { ...row, unread: rows[0]?.n ?? 0 };
    },

    async setCoverage(connectionId: string, coverage: IndexCoverage): Promise<void> {
      if ((await ensureConnectionNumber(connectionId)) === undefined) return;
      await database
        .updateTable("ledgerConnections")
        .set({
          // Another reader may have advanced it since this one started.
          ...(coverage.newestMs !== undefined && {
            newestMs: sql<number>`CASE WHEN newest_ms > ${coverage.newestMs} THEN newest_ms ELSE ${coverage.newestMs} END`,
          }),
          cursorMs: coverage.cursorMs ?? null,
          nextOffset: coverage.nextOffset ?? null,
          isComplete: coverage.isComplete,
          isBounded: coverage.isBounded,
          sweptAt: coverage.sweptAt ?? null,
        })
        .where("connectionId", "=", connectionId)
        .execute();
    },

    /** Call if no jobs are missing between the indexed ones and `newestMs`. */
    async advance(connectionId: string, newestMs: number): Promise<void> {
      await database
        .updateTable("ledgerConnections")
        .set({ newestMs })
        .where("connectionId", "=", connectionId)
        .where("newestMs", "<", newestMs)
        .execute();
    },

    /** Returns the time of the oldest job, or undefined if the index is not full. */
    async findOldestIfFull(connectionId: string, maxJobs: number): Promise<number | undefined> {
      const number = await findConnectionNumber(database, connectionId);
      return number !== undefined && (await countJobs(database, number)) >= maxJobs ? findOldestMs(database, number) : undefined;
    },

    async findConnectionsWithJob(jobId: string, connectionIds: readonly string[]): Promise<string[]> {
      if (connectionIds.length === 0) return [];
      const rows = await database
        .selectFrom("ledgerConnections")
        .innerJoin("ledgerJobs", "ledgerJobs.number", "ledgerConnections.number")
        .select("ledgerConnections.connectionId")
        .where("ledgerJobs.jobId", "=", jobId)
        .where("ledgerConnections.connectionId", "in", connectionIds)
        .execute();
      return rows.map((row) => row.connectionId);
    },

    /** Drops a connection's jobs, so that they are read again. Their rows then belong to no connection and are swept. */
    async reset(connectionId: string): Promise<void> {
      await database.deleteFrom("ledgerConnections").where("connectionId", "=", connectionId).execute();
      writtenUpdates.clear();
    },

    /** Deletes rows of removed connections. Returns true if there may be more. */
    async sweep(): Promise<boolean> {
      const { numAffectedRows } = await sql`
        DELETE FROM ledger_jobs WHERE key IN (
          SELECT key FROM ledger_jobs WHERE number NOT IN (SELECT number FROM ledger_connections) LIMIT ${DELETE_BATCH_SIZE})`.execute(
        database,
      );
      return Number(numAffectedRows ?? 0n) > 0;
    },
  };
}

export type ListedRange = { afterMs: number; beforeMs: number; present: readonly string[] };

async function writeRow(
  trx: Kysely<Tables>,
  number: number,
  existingRow: ExistingRow | undefined,
  job: StoredJob,
  { row, nextKeys }: { row: ReturnType<typeof toRow>; nextKeys: Map<bigint, bigint> },
): Promise<bigint> {
  const body = toSearchEntry(job);
  if (existingRow?.createdMs === job.createdMs) {
    const updateResult = await trx.updateTable("ledgerJobs").set(row).where("key", "=", existingRow.key).executeTakeFirst();
    // If the row was swept with its connection in the meantime, it has no search entry either.
    if (Number(updateResult.numUpdatedRows) > 0 && toSearchEntry(existingRow) !== body)
      await getDialect(trx).writeWords(trx, existingRow.key, body);
    return existingRow.key;
  }
  if (existingRow) await trx.deleteFrom("ledgerJobs").where("key", "=", existingRow.key).execute();
  const key = await allocateKey(trx, getFirstKey(number, job.createdMs), nextKeys);
  await trx
    .insertInto("ledgerJobs")
    .values({ ...row, key, number, jobId: job.jobId })
    .execute();
  await getDialect(trx).writeWords(trx, key, body);
  return key;
}

/** Jobs created at the same time get adjacent keys. `nextKeys` maps a first key to the next free one in this transaction. */
async function allocateKey(trx: Kysely<Tables>, firstKey: bigint, nextKeys: Map<bigint, bigint>): Promise<bigint> {
  const start = nextKeys.get(firstKey) ?? firstKey;
  const queryResult = await sql`SELECT 1 FROM ledger_jobs WHERE key = ${start}`.execute(trx);
  const key = queryResult.rows.length === 0 ? start : await findFreeKey(trx, start);
  nextKeys.set(firstKey, key + 1n);
  return key;
}

/** Returns the first free key after a used one. */
async function findFreeKey(trx: Kysely<Tables>, start: bigint): Promise<bigint> {
  const { rows } = await sql<{ free: string }>`
    SELECT CAST(key + 1 AS TEXT) AS free FROM ledger_jobs AS taken
    WHERE key >= ${start} AND NOT EXISTS (SELECT 1 FROM ledger_jobs AS other WHERE other.key = taken.key + 1)
    ORDER BY key LIMIT 1`.execute(trx);
  return BigInt(rows[0]?.free ?? start);
}

async function countJobs(database: Kysely<Tables>, number: number): Promise<number> {
  const row = await database.selectFrom("ledgerConnections").select("jobs").where("number", "=", number).executeTakeFirst();
  return row?.jobs ?? 0;
}

async function addToCount(trx: Kysely<Tables>, number: number, jobs: number): Promise<void> {
  if (jobs === 0) return;
  await trx
    .updateTable("ledgerConnections")
    .set((row) => ({ jobs: row("jobs", "+", jobs) }))
    .where("number", "=", number)
    .execute();
}

const selectOldestKeys = (number: number, count: number) =>
  sql`SELECT key FROM ledger_jobs WHERE key >= ${getFirstKey(number, 0)} AND key < ${getFirstKey(number + 1, 0)} ORDER BY key LIMIT ${count}`;

async function findOldestMs(database: Kysely<Tables>, number: number): Promise<number | undefined> {
  const { rows } = await sql<{ ms: number }>`
    SELECT ${KEY_MS} AS ms FROM ledger_jobs WHERE key >= ${getFirstKey(number, 0)} AND key < ${getFirstKey(number + 1, 0)}
    ORDER BY key LIMIT 1`.execute(database);
  return rows[0]?.ms;
}
