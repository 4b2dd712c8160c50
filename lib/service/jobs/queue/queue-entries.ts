// Entries of graphile-worker's queue, one per waiting job. A job's turn is one more than the later of its user's last turn and the
// last turn taken, so that users alternate. The library sorts by time: a turn is that many microseconds after the year 2000.

import { plainStatement, type Reader, type Transaction } from "@/lib/service/store/database";
import { type WaitingJob } from "../transitions";

export const QUEUE_SCHEMA = "lightdesk_queue";
/** A flag of every entry: a worker that skips it takes none. */
export const EVERY = "every";
/** In `turns`, the user number under which the last taken turn is kept. */
const TAKEN = 0;
/** The library's limit of tries, at its maximum: an entry that a process could not take is freed, and each time counts as a try. */
const MAX_TRIES = 32_767;
const BATCH_SIZE = 2000;

/** `turn`: instead of the next turn, "first" puts the jobs before all others, a number puts them where they were. */
export async function enqueueAll(tx: Transaction, jobs: readonly WaitingJob[], turn?: "first" | number): Promise<void> {
  for (let first = 0; first < jobs.length; first += BATCH_SIZE) await enqueueSome(tx, jobs.slice(first, first + BATCH_SIZE), turn);
}

async function enqueueSome(tx: Transaction, jobs: readonly WaitingJob[], turn: "first" | number | undefined): Promise<void> {
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
      timestamptz '2000-01-01 00:00:00Z' + turn * interval '1 microsecond', ${MAX_TRIES}, seq::text, 0, ARRAY[kind, '${EVERY}']
    )::${QUEUE_SCHEMA}.job_spec FROM placed ORDER BY turn))`;
  const lists = [jobs.map(({ seq }) => seq), jobs.map(({ userId }) => userId), jobs.map(({ kind }) => kind)];
  await tx.rows(plainStatement(text, typeof turn === "number" ? [turn, ...lists] : lists));
}

export async function storeTurn(tx: Transaction, turn: number): Promise<void> {
  const text = `INSERT INTO turns (user_id, turn) VALUES (${TAKEN}, ?) ON CONFLICT (user_id) DO UPDATE SET turn = greatest(turns.turn, excluded.turn)`;
  await tx.rows(plainStatement(text, [turn]));
}

export async function removeEntries(tx: Transaction, userId: number, seqs: readonly number[]): Promise<void> {
  await complete(tx, `SELECT id FROM ${QUEUE_SCHEMA}.jobs WHERE key IN (SELECT unnest(?::bigint[])::text)`, [seqs]);
  await stepBack(tx, userId);
}

export function removeStale(tx: Transaction): Promise<void> {
  const waits = "SELECT 1 FROM jobs WHERE seq = key::bigint AND state = 'pending' AND slot IS NULL";
  return complete(tx, `SELECT id FROM ${QUEUE_SCHEMA}.jobs WHERE locked_at IS NULL AND NOT EXISTS (${waits}) LIMIT ${BATCH_SIZE}`);
}

async function complete(tx: Transaction, ids: string, values: readonly unknown[] = []): Promise<void> {
  await tx.rows(plainStatement(`SELECT count(*) FROM ${QUEUE_SCHEMA}.complete_jobs(ARRAY(${ids}))`, values));
}

async function stepBack(tx: Transaction, userId: number): Promise<void> {
  const last = `SELECT max(seq)::text FROM jobs WHERE user_id = ? AND state = 'pending'`;
  const turn = `SELECT (extract(epoch FROM run_at - timestamptz '2000-01-01 00:00:00Z') * 1000000)::bigint FROM ${QUEUE_SCHEMA}.jobs WHERE key = (${last})`;
  await tx.rows(plainStatement(`UPDATE turns SET turn = coalesce((${turn}), 0) WHERE user_id = ?`, [userId, userId]));
}

export async function freeWorkers(tx: Transaction, workerIds: readonly string[]): Promise<void> {
  if (workerIds.length > 0) await tx.rows(plainStatement(`SELECT ${QUEUE_SCHEMA}.force_unlock_workers(?::text[])`, [workerIds]));
}

/** Some jobs that wait without an entry: older than the queue, copied, restored, or lost by a process that ended. */
export async function seqsWithoutEntry(reader: Reader, after: number): Promise<number[]> {
  const usable = "key = seq::text AND (entry.attempts < max_attempts OR locked_at IS NOT NULL)";
  const text = `SELECT seq FROM jobs WHERE state IN ('pending', 'in_progress') AND state = 'pending' AND slot IS NULL AND seq > ?
    AND NOT EXISTS (SELECT 1 FROM ${QUEUE_SCHEMA}.jobs AS entry WHERE ${usable})
    ORDER BY seq LIMIT ${BATCH_SIZE}`;
  return (await reader.rows(plainStatement<{ seq: number }>(text, [after]))).map(({ seq }) => seq);
}
