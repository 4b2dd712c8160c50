// Entries of graphile-worker's queue, one per waiting job. A job's turn is one more than the later of its user's last turn and the
// last turn taken, so that users alternate. The library sorts by time: a turn is that many microseconds after the year 2000.

import { createStatement, type Reader, type Transaction } from "@/lib/service/store/database";
import { type WaitingJob } from "../transitions";

export const QUEUE_SCHEMA = "lightdesk_queue";
/** Set on every entry. A worker that skips this flag skips all entries. */
export const ALL_ENTRIES_FLAG = "every";
/** The user number in `turns` under which the last taken turn is stored. */
const LAST_TURN_USER = 0;
/** The library's maximum. Each time a process returns an entry counts as an attempt. */
const MAX_ENTRY_ATTEMPTS = 32_767;
const BATCH_SIZE = 2000;

/** `turn` replaces the next turn: "first" is before all others, and a number restores the jobs' earlier position. */
export async function enqueueAll(tx: Transaction, jobs: readonly WaitingJob[], turn?: "first" | number): Promise<void> {
  for (let offset = 0; offset < jobs.length; offset += BATCH_SIZE) await enqueueBatch(tx, jobs.slice(offset, offset + BATCH_SIZE), turn);
}

async function enqueueBatch(tx: Transaction, jobs: readonly WaitingJob[], turn: "first" | number | undefined): Promise<void> {
  const nextTurn = `greatest(coalesce(turns.turn, 0), taken.turn) + row_number() OVER (PARTITION BY asked.user_id ORDER BY place)`;
  const fixedTurn = turn === "first" ? "taken.turn" : "?::bigint";
  const text = `
    WITH taken AS (SELECT coalesce(max(turn), 0) AS turn FROM turns WHERE user_id = ${LAST_TURN_USER}),
    placed AS (
      SELECT asked.seq, asked.user_id, asked.kind, ${turn === undefined ? nextTurn : fixedTurn} AS turn
        FROM taken, unnest(?::bigint[], ?::bigint[], ?::text[]) WITH ORDINALITY AS asked (seq, user_id, kind, place)
        LEFT JOIN turns ON turns.user_id = asked.user_id
    ),
    kept AS (
      INSERT INTO turns (user_id, turn) SELECT user_id, max(turn) FROM placed GROUP BY user_id
        ON CONFLICT (user_id) DO UPDATE SET turn = greatest(turns.turn, excluded.turn)
    )
    SELECT count(*) FROM ${QUEUE_SCHEMA}.add_jobs(ARRAY(SELECT (
      'run', json_build_object('seq', seq, 'userId', user_id, 'kind', kind, 'turn', turn), NULL,
      timestamptz '2000-01-01 00:00:00Z' + turn * interval '1 microsecond', ${MAX_ENTRY_ATTEMPTS}, seq::text, 0, ARRAY[kind, '${ALL_ENTRIES_FLAG}']
    )::${QUEUE_SCHEMA}.job_spec FROM placed ORDER BY turn))`;
  const columns = [jobs.map(({ seq }) => seq), jobs.map(({ userId }) => userId), jobs.map(({ kind }) => kind)];
  await tx.rows(createStatement(text, typeof turn === "number" ? [turn, ...columns] : columns));
}

export async function storeTurn(tx: Transaction, turn: number): Promise<void> {
  const text = `INSERT INTO turns (user_id, turn) VALUES (${LAST_TURN_USER}, ?) ON CONFLICT (user_id) DO UPDATE SET turn = greatest(turns.turn, excluded.turn)`;
  await tx.rows(createStatement(text, [turn]));
}

export async function removeEntries(tx: Transaction, userId: number, seqs: readonly number[]): Promise<void> {
  await completeEntries(tx, `SELECT id FROM ${QUEUE_SCHEMA}.jobs WHERE key IN (SELECT unnest(?::bigint[])::text)`, [seqs]);
  await resetTurn(tx, userId);
}

export function removeStaleEntries(tx: Transaction): Promise<void> {
  const waitingJobQuery = "SELECT 1 FROM jobs WHERE seq = key::bigint AND state = 'pending' AND slot IS NULL";
  return completeEntries(
    tx,
    `SELECT id FROM ${QUEUE_SCHEMA}.jobs WHERE locked_at IS NULL AND NOT EXISTS (${waitingJobQuery}) LIMIT ${BATCH_SIZE}`,
  );
}

async function completeEntries(tx: Transaction, idQuery: string, values: readonly unknown[] = []): Promise<void> {
  await tx.rows(createStatement(`SELECT count(*) FROM ${QUEUE_SCHEMA}.complete_jobs(ARRAY(${idQuery}))`, values));
}

async function resetTurn(tx: Transaction, userId: number): Promise<void> {
  const lastSeqQuery = `SELECT max(seq)::text FROM jobs WHERE user_id = ? AND state = 'pending'`;
  const lastTurnQuery = `SELECT (extract(epoch FROM run_at - timestamptz '2000-01-01 00:00:00Z') * 1000000)::bigint FROM ${QUEUE_SCHEMA}.jobs WHERE key = (${lastSeqQuery})`;
  await tx.rows(createStatement(`UPDATE turns SET turn = coalesce((${lastTurnQuery}), 0) WHERE user_id = ?`, [userId, userId]));
}

export async function unlockWorkers(tx: Transaction, workerIds: readonly string[]): Promise<void> {
  if (workerIds.length > 0) await tx.rows(createStatement(`SELECT ${QUEUE_SCHEMA}.force_unlock_workers(?::text[])`, [workerIds]));
}

/** Finds a batch of waiting jobs without an entry: copied, restored, older than the queue, or lost when a process ended. */
export async function findSeqsWithoutEntry(reader: Reader, afterSeq: number): Promise<number[]> {
  const usableCondition = "key = seq::text AND (entry.attempts < max_attempts OR locked_at IS NOT NULL)";
  const text = `SELECT seq FROM jobs WHERE state IN ('pending', 'in_progress') AND state = 'pending' AND slot IS NULL AND seq > ?
    AND NOT EXISTS (SELECT 1 FROM ${QUEUE_SCHEMA}.jobs AS entry WHERE ${usableCondition})
    ORDER BY seq LIMIT ${BATCH_SIZE}`;
  return (await reader.rows(createStatement<{ seq: number }>(text, [afterSeq]))).map(({ seq }) => seq);
}
