// Writes the job index: at most `maxJobs` jobs per connection, the newest. A row and its search entry are written together.
// Keys have more digits than a double holds.

import "server-only";
import { createHash } from "node:crypto";
import { type Kysely, sql } from "kysely";
import { writeExactJson } from "@/lib/contract/json/exact-json";
import { createLru } from "@/lib/shared/lru";
import { type Database } from "../database";
import { dialectOf } from "../dialect";
import { type Tables } from "../tables";
import {
  type ExistingRow,
  firstKey,
  indexed,
  type JobNote,
  merged,
  MS_OF_KEY,
  readStoredJobs,
  rowOf,
  type StoredJob,
  submittersOf,
} from "./index-entry";
import { noteUsage } from "./job-usage";

type StoredNote = { jobId: string; inputs?: string };

const MAX_CHARACTERS = 500;
const BELIEVED_MS = 5 * 60_000;

function createWrittenNotes(now: () => number = Date.now) {
  const lastWritten = createLru<string, { content: string; atMs: number }>({ max: 10_000 });
  const nameOf = (number: number, { jobId }: StoredNote) => `${number} ${jobId}`;

  return {
    /** Notes that contain something not written recently. */
    selectNew<T extends StoredNote>(number: number, notes: readonly T[]): T[] {
      return notes.filter((note) => {
        const existing = lastWritten.get(nameOf(number, note));
        return !existing || now() - existing.atMs > BELIEVED_MS || existing.content !== contentOf(note);
      });
    },

    /** What was written is not compared again. */
    keep(number: number, note: StoredNote): void {
      const name = nameOf(number, note);
      // Inputs are sent only once.
      if (note.inputs !== undefined) lastWritten.delete(name);
      else lastWritten.set(name, { content: contentOf(note), atMs: now() });
    },

    /** Rows were removed: notes about them must be written again. */
    forget: () => lastWritten.clear(),
  };
}

/** Hashed where it is long, as a job's error may be. */
function contentOf(note: StoredNote): string {
  const text = writeExactJson(note);
  return text.length <= MAX_CHARACTERS ? text : createHash("sha256").update(text).digest("base64");
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

const FORGOTTEN_AT_ONCE = 500;

/** The number of a connection in the keys of its jobs. */
export async function findConnectionNumber(database: Database, connectionId: string): Promise<number | undefined> {
  const query = database.selectFrom("ledgerConnections").select("number").where("connectionId", "=", connectionId);
  return (await query.executeTakeFirst())?.number;
}

export function createJobIndexStore(database: Database) {
  const { runExclusive, textRows } = dialectOf(database);
  const writtenNotes = createWrittenNotes();

  async function numbered(connectionId: string): Promise<number | undefined> {
    const number = await findConnectionNumber(database, connectionId);
    if (number !== undefined) return number;
    // Only if the connection exists: an answer may arrive after it was removed.
    await sql`INSERT INTO ledger_connections (connection_id) SELECT id FROM connections WHERE id = ${connectionId} ON CONFLICT DO NOTHING`.execute(
      database,
    );
    return findConnectionNumber(database, connectionId);
  }
  /** Work that reads and then writes or deletes rows of a connection runs one after the other. */
  const runLocked = <T>(number: number, work: (trx: Kysely<Tables>) => Promise<T>) => runExclusive(database, `ledger ${number}`, work);

  return {
    async note(connectionId: string, reported: readonly JobNote[], maxJobs: number): Promise<void> {
      const number = await numbered(connectionId);
      const newNotes = number === undefined ? [] : writtenNotes.selectNew(number, reported);
      if (number === undefined || newNotes.length === 0) return;
      const done = await runLocked(number, async (trx) => {
        const count = await countOf(trx, number);
        const oldest = count >= maxJobs ? await oldestOf(trx, number) : undefined;
        const ids = newNotes.map(({ jobId }) => jobId);
        const storedJobs = await readStoredJobs(trx, number, ids);
        const ofUnknown = newNotes
          .filter(({ jobId, memberId }) => !storedJobs.has(jobId) && memberId === undefined)
          .map(({ jobId }) => jobId);
        const submitters = await submittersOf(trx, connectionId, ofUnknown);
        const next = new Map<bigint, bigint>();
        const seen = { added: 0, left: 0, written: new Array<JobNote>() };
        for (const jobNote of newNotes) {
          const before = storedJobs.get(jobNote.jobId);
          if (!before && (jobNote.isAside || !jobNote.item)) continue;
          const after = merged(before, { memberId: submitters.get(jobNote.jobId)?.memberId, ...jobNote });
          if (!before && oldest !== undefined && after.createdMs < oldest) {
            seen.left += 1;
            continue;
          }
          const row = rowOf(after);
          const isNews = !before || before.createdMs !== after.createdMs || writeExactJson(rowOf(before)) !== writeExactJson(row);
          const key = isNews ? await put(trx, number, before, after, { row, next }) : before.key;
          if (isNews)
            await noteUsage(trx, connectionId, {
              token: submitters.get(jobNote.jobId)?.token,
              ...after,
              ...(jobNote.token !== undefined && { token: jobNote.token }),
            });
          if (!before) seen.added += 1;
          seen.written.push(jobNote);
          storedJobs.set(jobNote.jobId, { ...after, key });
        }
        const over = Math.min(FORGOTTEN_AT_ONCE, count + seen.added - maxJobs);
        if (over > 0) await sql`DELETE FROM ledger_jobs WHERE key IN (${oldestKeys(number, over)})`.execute(trx);
        if (over > 0 || seen.left > 0) {
          await trx.updateTable("ledgerConnections").set({ isBounded: true }).where("number", "=", number).execute();
        }
        await countMore(trx, number, seen.added - Math.max(0, over));
        return { ...seen, over };
      });
      if (done.over > 0) writtenNotes.forget();
      for (const note of done.written) writtenNotes.keep(number, note);
    },

    async forget(connectionId: string, ids: readonly string[]): Promise<void> {
      const number = await findConnectionNumber(database, connectionId);
      for (let at = 0; number !== undefined && at < ids.length; at += FORGOTTEN_AT_ONCE) {
        const batch = ids.slice(at, at + FORGOTTEN_AT_ONCE);
        await runLocked(number, async (trx) => {
          const rows = trx.deleteFrom("ledgerJobs").where("number", "=", number).where("jobId", "in", batch);
          await countMore(trx, number, -Number((await rows.executeTakeFirst()).numDeletedRows));
        });
        writtenNotes.forget();
      }
    },

    /** Deletes jobs between two moments that the service's list does not contain. Returns whether there may be more of them. */
    async forgetAbsent(connectionId: string, { afterMs, beforeMs, present }: ListedRange): Promise<boolean> {
      const number = await findConnectionNumber(database, connectionId);
      if (number === undefined) return false;
      const removed = await runLocked(number, async (trx) => {
        const { numAffectedRows } = await sql`
          DELETE FROM ledger_jobs WHERE key IN (
            SELECT key FROM ledger_jobs
            WHERE key >= ${firstKey(number, afterMs + 1)} AND key < ${firstKey(number, beforeMs)} AND is_exact = 1
              AND job_id NOT IN (SELECT value FROM ${textRows(present)})
            LIMIT ${FORGOTTEN_AT_ONCE})`.execute(trx);
        await countMore(trx, number, -Number(numAffectedRows ?? 0n));
        return Number(numAffectedRows ?? 0n);
      });
      if (removed > 0) writtenNotes.forget();
      return removed >= FORGOTTEN_AT_ONCE;
    },

    async reach(connectionId: string): Promise<IndexReach & { unread: number }> {
      const row = await database.selectFrom("ledgerConnections").selectAll().where("connectionId", "=", connectionId).executeTakeFirst();
      if (!row) return { isComplete: false, isBounded: false, unread: 0 };
      const { rows } = await sql<{ n: number }>`
        SELECT count(*) AS n FROM ledger_jobs WHERE number = ${row.number} AND inputs IS NULL`.execute(database);
      return { ...row, unread: rows[0]?.n ?? 0 };
    },

    async setReach(connectionId: string, reach: IndexReach): Promise<void> {
      if ((await numbered(connectionId)) === undefined) return;
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

    /** Nothing is missing between the known jobs and `newestMs`. */
    async advance(connectionId: string, newestMs: number): Promise<void> {
      await database
        .updateTable("ledgerConnections")
        .set({ newestMs })
        .where("connectionId", "=", connectionId)
        .where("newestMs", "<", newestMs)
        .execute();
    },

    /** The time of the oldest job, if there is no room for an older one. */
    async oldestOfFull(connectionId: string, maxJobs: number): Promise<number | undefined> {
      const number = await findConnectionNumber(database, connectionId);
      return number !== undefined && (await countOf(database, number)) >= maxJobs ? oldestOf(database, number) : undefined;
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

    /** Forgets a connection, so that the service's jobs are read again. Its rows then belong to no connection, and are swept. */
    async restart(connectionId: string): Promise<void> {
      await database.deleteFrom("ledgerConnections").where("connectionId", "=", connectionId).execute();
      writtenNotes.forget();
    },

    /** Deletes rows of removed connections. Returns whether there may be more. */
    async sweep(): Promise<boolean> {
      const { numAffectedRows } = await sql`
        DELETE FROM ledger_jobs WHERE key IN (
          SELECT key FROM ledger_jobs WHERE number NOT IN (SELECT number FROM ledger_connections) LIMIT ${FORGOTTEN_AT_ONCE})`.execute(
        database,
      );
      return Number(numAffectedRows ?? 0n) > 0;
    },
  };
}

export type ListedRange = { afterMs: number; beforeMs: number; present: readonly string[] };

async function put(
  trx: Kysely<Tables>,
  number: number,
  before: ExistingRow | undefined,
  after: StoredJob,
  { row, next }: { row: ReturnType<typeof rowOf>; next: Map<bigint, bigint> },
): Promise<bigint> {
  const body = indexed(after);
  if (before?.createdMs === after.createdMs) {
    const updateResult = await trx.updateTable("ledgerJobs").set(row).where("key", "=", before.key).executeTakeFirst();
    // If the row was swept with its connection meanwhile, it has no index entry either.
    if (Number(updateResult.numUpdatedRows) > 0 && indexed(before) !== body) await dialectOf(trx).writeWords(trx, before.key, body);
    return before.key;
  }
  if (before) await trx.deleteFrom("ledgerJobs").where("key", "=", before.key).execute();
  const key = await freeKey(trx, firstKey(number, after.createdMs), next);
  await trx
    .insertInto("ledgerJobs")
    .values({ ...row, key, number, jobId: after.jobId })
    .execute();
  await dialectOf(trx).writeWords(trx, key, body);
  return key;
}

/** Jobs of the same moment get neighbouring keys. `next`: by first key, where this transaction continues. */
async function freeKey(trx: Kysely<Tables>, first: bigint, next: Map<bigint, bigint>): Promise<bigint> {
  const start = next.get(first) ?? first;
  const queryResult = await sql`SELECT 1 FROM ledger_jobs WHERE key = ${start}`.execute(trx);
  const key = queryResult.rows.length === 0 ? start : await keyAfter(trx, start);
  next.set(first, key + 1n);
  return key;
}

/** The first free key after a taken one. */
async function keyAfter(trx: Kysely<Tables>, start: bigint): Promise<bigint> {
  const { rows } = await sql<{ free: string }>`
    SELECT CAST(key + 1 AS TEXT) AS free FROM ledger_jobs AS taken
    WHERE key >= ${start} AND NOT EXISTS (SELECT 1 FROM ledger_jobs AS other WHERE other.key = taken.key + 1)
    ORDER BY key LIMIT 1`.execute(trx);
  return BigInt(rows[0]?.free ?? start);
}

async function countOf(database: Kysely<Tables>, number: number): Promise<number> {
  const row = await database.selectFrom("ledgerConnections").select("jobs").where("number", "=", number).executeTakeFirst();
  return row?.jobs ?? 0;
}

async function countMore(trx: Kysely<Tables>, number: number, jobs: number): Promise<void> {
  if (jobs === 0) return;
  await trx
    .updateTable("ledgerConnections")
    .set((row) => ({ jobs: row("jobs", "+", jobs) }))
    .where("number", "=", number)
    .execute();
}

const oldestKeys = (number: number, count: number) =>
  sql`SELECT key FROM ledger_jobs WHERE key >= ${firstKey(number, 0)} AND key < ${firstKey(number + 1, 0)} ORDER BY key LIMIT ${count}`;

async function oldestOf(database: Kysely<Tables>, number: number): Promise<number | undefined> {
  const { rows } = await sql<{ ms: number }>`
    SELECT ${MS_OF_KEY} AS ms FROM ledger_jobs WHERE key >= ${firstKey(number, 0)} AND key < ${firstKey(number + 1, 0)}
    ORDER BY key LIMIT 1`.execute(database);
  return rows[0]?.ms;
}
