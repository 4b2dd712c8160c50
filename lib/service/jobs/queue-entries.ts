// The entries of graphile-worker's queue: one for each job that waits, in the order of turns. Inside commits, with the rows of the jobs.
// A job's turn is the later of its user's last turn and of the turn taken last, plus one: so each user's next job comes before any user's second
// one. The library sorts by moments: the turn is one, in microseconds after the year 2000.

import { type Logger } from "graphile-worker";
import { type Pool } from "pg";
import { type ServiceLog } from "../options";
import { type Reader, type Transaction } from "../store/database";
import { plainStatement } from "../store/statement";
import { type Waiting } from "./fair-queue";

export const QUEUE_SCHEMA = "lightdesk_queue";
/** A flag of every entry: whoever skips it takes none. */
export const EVERY = "every";
/** Whose turn is the one that was taken last. */
const TAKEN = 0;
/** Tries of the library: an entry goes back by itself, so none is used up. */
const MOST_TRIES = 25;
const AT_ONCE = 5000;

/** What it complains of is told; it logs every job that it has given out. */
export async function queueLogger(log: ServiceLog): Promise<Logger> {
  const { Logger } = await import("graphile-worker");
  const told: readonly string[] = ["error", "warning"];
  return new Logger(() => (level, message) => {
    if (told.includes(level)) log.warn({ message }, "the queue complains");
  });
}

/** `turn`: another one than the next: before all others, or where it was. */
export async function enqueueAll(tx: Transaction, jobs: readonly Waiting[], turn?: "first" | number): Promise<void> {
  for (let first = 0; first < jobs.length; first += AT_ONCE) await enqueueSome(tx, jobs.slice(first, first + AT_ONCE), turn);
}

async function enqueueSome(tx: Transaction, jobs: readonly Waiting[], turn: "first" | number | undefined): Promise<void> {
  const next = `greatest(coalesce(turns.turn, 0), taken.turn) + row_number() OVER (PARTITION BY asked.user_id ORDER BY place)`;
  const fixed = turn === "first" ? "taken.turn" : "?::bigint";
  const text = `
    WITH taken AS (SELECT coalesce(max(turn), 0) AS turn FROM turns WHERE user_id = ${TAKEN}),
    placed AS (
      SELECT asked.seq, asked.user_id, asked.kind, ${turn === undefined ? next : fixed} AS turn
        FROM taken, unnest(?::bigint[], ?::bigint[], ?::text[]) WITH ORDINALITY AS asked (seq, user_id, kind, place)
        LEFT JOIN turns ON turns.user_id = asked.user_id
    ),
    kept AS (
      INSERT INTO turns (user_id, turn) SELECT user_id, max(turn) FROM placed GROUP BY user_id
        ON CONFLICT (user_id) DO UPDATE SET turn = greatest(turns.turn, excluded.turn)
    )
    SELECT count(*) FROM ${QUEUE_SCHEMA}.add_jobs(ARRAY(SELECT (
      'run', json_build_object('seq', seq, 'userId', user_id, 'kind', kind, 'turn', turn), NULL,
      timestamptz '2000-01-01 00:00:00Z' + turn * interval '1 microsecond', ${MOST_TRIES}, seq::text, 0, ARRAY[kind, '${EVERY}']
    )::${QUEUE_SCHEMA}.job_spec FROM placed ORDER BY turn))`;
  const lists = [jobs.map(({ seq }) => seq), jobs.map(({ userId }) => userId), jobs.map(({ kind }) => kind)];
  await tx.rows(plainStatement(text, typeof turn === "number" ? [turn, ...lists] : lists));
}

/** Others are counted from it. */
export async function tookTurn(tx: Transaction, turn: number): Promise<void> {
  const text = `INSERT INTO turns (user_id, turn) VALUES (${TAKEN}, ?) ON CONFLICT (user_id) DO UPDATE SET turn = greatest(turns.turn, excluded.turn)`;
  await tx.rows(plainStatement(text, [turn]));
}

/** Of these jobs of the user, or of all that wait. What comes next takes the place of what is gone. */
export async function removeEntries(tx: Transaction, userId: number, seqs?: readonly number[]): Promise<void> {
  const keys = seqs ? "SELECT unnest(?::bigint[])::text" : "SELECT seq::text FROM jobs WHERE user_id = ? AND state = 'pending'";
  const ids = `SELECT id FROM ${QUEUE_SCHEMA}.jobs WHERE key IN (${keys})`;
  await tx.rows(plainStatement(`SELECT count(*) FROM ${QUEUE_SCHEMA}.complete_jobs(ARRAY(${ids}))`, [seqs ?? userId]));
  const last = `SELECT max(seq)::text FROM jobs WHERE user_id = ? AND state = 'pending'`;
  const turn = `SELECT (extract(epoch FROM run_at - timestamptz '2000-01-01 00:00:00Z') * 1000000)::bigint FROM ${QUEUE_SCHEMA}.jobs WHERE key = (${last})`;
  await tx.rows(plainStatement(`UPDATE turns SET turn = coalesce((${turn}), 0) WHERE user_id = ?`, [userId, userId]));
}

/** What these workers hold waits again. */
export async function freeWorkers(tx: Transaction, workerIds: readonly string[]): Promise<void> {
  if (workerIds.length > 0) await tx.rows(plainStatement(`SELECT ${QUEUE_SCHEMA}.force_unlock_workers(?::text[])`, [workerIds]));
}

/** Jobs that wait without an entry: from before the queue was there, copied, restored, or lost by a process that ended. */
export async function seqsWithoutEntry(reader: Reader): Promise<number[]> {
  const text = `SELECT seq FROM jobs WHERE state IN ('pending', 'in_progress') AND state = 'pending'
    AND NOT EXISTS (SELECT 1 FROM ${QUEUE_SCHEMA}.jobs AS entry WHERE key = seq::text AND (entry.attempts < max_attempts OR locked_at IS NOT NULL))
    ORDER BY seq`;
  return (await reader.rows(plainStatement<{ seq: number }>(text))).map(({ seq }) => seq);
}

/** Makes the library's tables, once for processes that start together; and takes away what can never be given out again. */
export async function makeQueue(pgPool: Pool, log: ServiceLog): Promise<void> {
  const { makeWorkerUtils } = await import("graphile-worker");
  const client = await pgPool.connect();
  try {
    await client.query("SELECT pg_advisory_lock(hashtextextended('lightdesk queue migrations', 0))");
    const utils = await makeWorkerUtils({ pgPool, schema: QUEUE_SCHEMA, logger: await queueLogger(log) });
    await utils.migrate();
    await utils.cleanup({ tasks: ["DELETE_PERMAFAILED_JOBS"] });
    await utils.release();
  } finally {
    // The lock goes with the connection.
    client.release(true);
  }
}
