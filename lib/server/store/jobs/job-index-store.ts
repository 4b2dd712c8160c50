// Writes the job index: at most `maxJobs` jobs per connection, the newest. A row and its search entry are written together.
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
  firstKey,
  type JobNote,
  KEY_MS,
  mergeNote,
  readStoredJobs,
  type StoredJob,
  toRow,
  toSearchEntry,
} from "./index-entry";
import { recordUsage } from "./job-usage";

type StoredNote = { jobId: string; inputs?: string };

const MAX_UNHASHED_LENGTH = 500;
const CACHE_MS = 5 * 60_000;

function createWrittenNoteCache(now: () => number = Date.now) {
  const lastWritten = createLru<string, { content: string; atMs: number }>({ max: 10_000 });
  const toCacheKey = (number: number, { jobId }: StoredNote) => `${number} ${jobId}`;

  return {
    /** Returns the notes that were not written recently. */
    selectNew<T extends StoredNote>(number: number, notes: readonly T[]): T[] {
      return notes.filter((note) => {
        const existing = lastWritten.get(toCacheKey(number, note));
        return !existing || now() - existing.atMs > CACHE_MS || existing.content !== toComparableText(note);
      });
    },

    /** Records a written note, so that an equal one is skipped. */
    keep(number: number, note: StoredNote): void {
      const name = toCacheKey(number, note);
      // Inputs are reported only once.
      if (note.inputs !== undefined) lastWritten.delete(name);
      else lastWritten.set(name, { content: toComparableText(note), atMs: now() });
    },

    /** Call after rows were removed, because notes about them must be written again. */
    forget: () => lastWritten.clear(),
  };
}

/** Hashed if long, as a job's error may be. */
function toComparableText(note: StoredNote): string {
  const text = writeExactJson(note);
  return text.length <= MAX_UNHASHED_LENGTH ? text : createHash("sha256").update(text).digest("base64");
}

export type IndexReach = {
  newestMs?: number;
  cursorMs?: number;
  nextOffset?: number;
  isComplete: boolean;
  isBounded: boolean;
  sweptAt?: number;
};
export type JobIndexStore = ReturnType<typeof createJobIndexStore>;

const DELETE_BATCH_SIZE = 500;

/** The number of a connection in the keys of its jobs. */
export async function findConnectionNumber(database: Database, connectionId: string): Promise<number | undefined> {
  const query = database.selectFrom("ledgerConnections").select("number").where("connectionId", "=", connectionId);
  return (await query.executeTakeFirst())?.number;
}

export function createJobIndexStore(database: Database) {
  const { runExclusive, textRows } = getDialect(database);
  const writtenNotes = createWrittenNoteCache();

  async function ensureConnectionNumber(connectionId: string): Promise<number | undefined> {
    const number = await findConnectionNumber(database, connectionId);
    if (number !== undefined) return number;
    // Only if the connection exists, because a response may arrive after it was removed.
    await sql`INSERT INTO ledger_connections (connection_id) SELECT id FROM connections WHERE id = ${connectionId} ON CONFLICT DO NOTHING`.execute(
      database,
    );
    return findConnectionNumber(database, connectionId);
  }
  /** Serializes work that reads and then writes or deletes rows of a connection. */
  const runLocked = <T>(number: number, work: (trx: Kysely<Tables>) => Promise<T>) => runExclusive(database, `ledger ${number}`, work);

  return {
    async note(connectionId: string, reported: readonly JobNote[], maxJobs: number): Promise<void> {
      const number = await ensureConnectionNumber(connectionId);
      const newNotes = number === undefined ? [] : writtenNotes.selectNew(number, reported);
      if (number === undefined || newNotes.length === 0) return;
      const result = await runLocked(number, async (trx) => {
        const count = await countJobs(trx, number);
        const oldest = count >= maxJobs ? await findOldestMs(trx, number) : undefined;
        const ids = newNotes.map(({ jobId }) => jobId);
        const storedJobs = await readStoredJobs(trx, number, ids);
        const unknownJobIds = newNotes
          .filter(({ jobId, memberId }) => !storedJobs.has(jobId) && memberId === undefined)
          .map(({ jobId }) => jobId);
        const submitters = await findSubmitters(trx, connectionId, unknownJobIds);
        const next = new Map<bigint, bigint>();
        const counts = { added: 0, left: 0, written: new Array<JobNote>() };
        for (const jobNote of newNotes) {
          const storedJob = storedJobs.get(jobNote.jobId);
          if (!storedJob && (jobNote.isAside || !jobNote.item)) continue;
          const updatedJob = mergeNote(storedJob, { memberId: submitters.get(jobNote.jobId)?.memberId, ...jobNote });
          if (!storedJob && oldest !== undefined && updatedJob.createdMs < oldest) {
            counts.left += 1;
            continue;
          }
          const row = toRow(updatedJob);
          const isChanged =
            !storedJob || storedJob.createdMs !== updatedJob.createdMs || writeExactJson(toRow(storedJob)) !== writeExactJson(row);
          const key = isChanged ? await writeRow(trx, number, storedJob, updatedJob, { row, next }) : storedJob.key;
          if (isChanged)
            await recordUsage(trx, connectionId, {
              token: submitters.get(jobNote.jobId)?.token,
              ...updatedJob,
              ...(jobNote.token !== undefined && { token: jobNote.token }),
            });
          if (!storedJob) counts.added += 1;
          counts.written.push(jobNote);
          storedJobs.set(jobNote.jobId, { ...updatedJob, key });
        }
        const surplusCount = Math.min(DELETE_BATCH_SIZE, count + counts.added - maxJobs);
        if (surplusCount > 0) await sql`DELETE FROM ledger_jobs WHERE key IN (${selectOldestKeys(number, surplusCount)})`.execute(trx);
        if (surplusCount > 0 || counts.left > 0) {
          await trx.updateTable("ledgerConnections").set({ isBounded: true }).where("number", "=", number).execute();
        }
        await addToCount(trx, number, counts.added - Math.max(0, surplusCount));
        return { ...counts, over: surplusCount };
      });
      if (result.over > 0) writtenNotes.forget();
      for (const note of result.written) writtenNotes.keep(number, note);
    },

    async forget(connectionId: string, ids: readonly string[]): Promise<void> {
      const number = await findConnectionNumber(database, connectionId);
      for (let at = 0; number !== undefined && at < ids.length; at += DELETE_BATCH_SIZE) {
        const batch = ids.slice(at, at + DELETE_BATCH_SIZE);
        await runLocked(number, async (trx) => {
          const rows = trx.deleteFrom("ledgerJobs").where("number", "=", number).where("jobId", "in", batch);
          await addToCount(trx, number, -Number((await rows.executeTakeFirst()).numDeletedRows));
        });
        writtenNotes.forget();
      }
    },

    /** Deletes jobs between two times that the service's list does not contain. Returns true if there may be more of them. */
    async forgetAbsent(connectionId: string, { afterMs, beforeMs, present }: ListedRange): Promise<boolean> {
      const number = await findConnectionNumber(database, connectionId);
      if (number === undefined) return false;
      const removed = await runLocked(number, async (trx) => {
        const { numAffectedRows } = await sql`
          DELETE FROM ledger_jobs WHERE key IN (
            SELECT key FROM ledger_jobs
            WHERE key >= ${firstKey(number, afterMs + 1)} AND key < ${firstKey(number, beforeMs)} AND is_exact = 1
              AND job_id NOT IN (SELECT value FROM ${textRows(present)})
            LIMIT ${DELETE_BATCH_SIZE})`.execute(trx);
        await addToCount(trx, number, -Number(numAffectedRows ?? 0n));
        return Number(numAffectedRows ?? 0n);
      });
      if (removed > 0) writtenNotes.forget();
      return removed >= DELETE_BATCH_SIZE;
    },

    async reach(connectionId: string): Promise<IndexReach & { unread: number }> {
      const row = await database.selectFrom("ledgerConnections").selectAll().where("connectionId", "=", connectionId).executeTakeFirst();
      if (!row) return { isComplete: false, isBounded: false, unread: 0 };
      const { rows } = await sql<{ n: number }>`
        SELECT count(*) AS n FROM ledger_jobs WHERE number = ${row.number} AND inputs IS NULL`.execute(database);
      return { ...row, unread: rows[0]?.n ?? 0 };
    },

    async setReach(connectionId: string, reach: IndexReach): Promise<void> {
      if ((await ensureConnectionNumber(connectionId)) === undefined) return;
      await database
        .updateTable("ledgerConnections")
        .set({
          // Another reader may have advanced it since this one began.
          ...(reach.newestMs !== undefined && {
            newestMs: sql<number>`CASE WHEN newest_ms > ${reach.newestMs} THEN newest_ms ELSE ${reach.newestMs} END`,
          }),
          cursorMs: reach.cursorMs ?? null,
          nextOffset: reach.nextOffset ?? null,
          isComplete: reach.isComplete,
          isBounded: reach.isBounded,
          sweptAt: reach.sweptAt ?? null,
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

    /** The time of the oldest job, if the index is full. */
    async oldestOfFull(connectionId: string, maxJobs: number): Promise<number | undefined> {
      const number = await findConnectionNumber(database, connectionId);
      return number !== undefined && (await countJobs(database, number)) >= maxJobs ? findOldestMs(database, number) : undefined;
    },

    async holdersOf(jobId: string, connectionIds: readonly string[]): Promise<string[]> {
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
    async restart(connectionId: string): Promise<void> {
      await database.deleteFrom("ledgerConnections").where("connectionId", "=", connectionId).execute();
      writtenNotes.forget();
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
  before: ExistingRow | undefined,
  after: StoredJob,
  { row, next }: { row: ReturnType<typeof toRow>; next: Map<bigint, bigint> },
): Promise<bigint> {
  const body = toSearchEntry(after);
  if (before?.createdMs === after.createdMs) {
    const updateResult = await trx.updateTable("ledgerJobs").set(row).where("key", "=", before.key).executeTakeFirst();
    // If the row was swept with its connection meanwhile, it has no search entry either.
    if (Number(updateResult.numUpdatedRows) > 0 && toSearchEntry(before) !== body) await getDialect(trx).writeWords(trx, before.key, body);
    return before.key;
  }
  if (before) await trx.deleteFrom("ledgerJobs").where("key", "=", before.key).execute();
  const key = await allocateKey(trx, firstKey(number, after.createdMs), next);
  await trx
    .insertInto("ledgerJobs")
    .values({ ...row, key, number, jobId: after.jobId })
    .execute();
  await getDialect(trx).writeWords(trx, key, body);
  return key;
}

/** Jobs of the same time get adjacent keys. `next` maps a first key to the next free one in this transaction. */
async function allocateKey(trx: Kysely<Tables>, first: bigint, next: Map<bigint, bigint>): Promise<bigint> {
  const start = next.get(first) ?? first;
  const queryResult = await sql`SELECT 1 FROM ledger_jobs WHERE key = ${start}`.execute(trx);
  const key = queryResult.rows.length === 0 ? start : await findFreeKey(trx, start);
  next.set(first, key + 1n);
  return key;
}

/** The first free key after a used one. */
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
  sql`SELECT key FROM ledger_jobs WHERE key >= ${firstKey(number, 0)} AND key < ${firstKey(number + 1, 0)} ORDER BY key LIMIT ${count}`;

async function findOldestMs(database: Kysely<Tables>, number: number): Promise<number | undefined> {
  const { rows } = await sql<{ ms: number }>`
    SELECT ${KEY_MS} AS ms FROM ledger_jobs WHERE key >= ${firstKey(number, 0)} AND key < ${firstKey(number + 1, 0)}
    ORDER BY key LIMIT 1`.execute(database);
  return rows[0]?.ms;
}
