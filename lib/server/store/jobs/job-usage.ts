// Usage: one row per job submitted through the console, stored for 400 days, even after the job or its member is removed.
// Unknown values are NULL, never 0.

import "server-only";
import { type Kysely, sql } from "kysely";
import { isTerminalStatus } from "@/lib/contract/jobs/job-list";
import { type JobListItem } from "@/lib/contract/schemas/job";
import { toJobView } from "@/lib/contract/views/job-view";
import { type Database, deleteBefore } from "../database";
import { getDialect } from "../dialect";
import { type Tables } from "../tables";

export type UsedJob = { item: JobListItem; memberId?: string; token?: string; createdMs: number };
/** Sums over one member's jobs of one state on one connection. `unsized` counts jobs with an unknown or incomplete output size. */
export type UsageSum = {
  memberId: string;
  token?: string;
  connectionId: string;
  word: string;
  jobs: number;
  runMs: number;
  untimed: number;
  outputs: number;
  uncounted: number;
  bytes: number;
  unsized: number;
};
type LostJobsSum = Pick<UsageSum, "memberId" | "token" | "connectionId" | "jobs">;
export type UsageRange = { fromMs: number; toMs: number; memberId?: string };
export type JobUsageStore = ReturnType<typeof createJobUsageStore>;

const DAY_MS = 24 * 60 * 60_000;
const RETENTION_MS = 400 * DAY_MS;
/** Value of `is_sized`: the service listed fewer files than there are outputs. */
const PARTLY_SIZED = 2;

export function createJobUsageStore(database: Database) {
  const buildRangeCondition = ({ fromMs, toMs, memberId }: UsageRange) =>
    sql`at >= ${fromMs} AND at < ${toMs} AND ${memberId === undefined ? sql`1 = 1` : sql`member_id = ${memberId}`}`;

  return {
    async sum(range: UsageRange): Promise<UsageSum[]> {
      const { rows } = await sql<UsageSum>`
        SELECT member_id AS "memberId", token, connection_id AS "connectionId", word, count(*) AS jobs,
          coalesce(sum(run_ms), 0) AS "runMs", sum(CASE WHEN run_ms IS NULL THEN 1 ELSE 0 END) AS untimed,
          coalesce(sum(outputs), 0) AS outputs, sum(CASE WHEN outputs IS NULL THEN 1 ELSE 0 END) AS uncounted,
          coalesce(sum(bytes), 0) AS bytes, sum(CASE WHEN bytes IS NULL OR is_sized = ${sql.lit(PARTLY_SIZED)} THEN 1 ELSE 0 END) AS unsized
        FROM job_usage WHERE ${buildRangeCondition(range)} GROUP BY member_id, token, connection_id, word`.execute(database);
      return rows;
    },

    /** Counts jobs with these statuses that no service lists any more, according to the job index. Their end was never recorded. */
    async listLost(range: UsageRange, statuses: readonly string[]): Promise<LostJobsSum[]> {
      if (statuses.length === 0) return [];
      const { rows } = await sql<LostJobsSum>`
        SELECT member_id AS "memberId", token, connection_id AS "connectionId", count(*) AS jobs FROM job_usage
        WHERE ${buildRangeCondition(range)} AND word IN (${sql.join(statuses)}) AND NOT EXISTS (
          SELECT 1 FROM ledger_connections JOIN ledger_jobs ON ledger_jobs.number = ledger_connections.number
          WHERE ledger_connections.connection_id = job_usage.connection_id AND ledger_jobs.job_id = job_usage.job_id
        ) GROUP BY member_id, token, connection_id`.execute(database);
      return rows;
    },

    async findNames(memberIds: readonly string[]): Promise<Map<string, string>> {
      const { rows } = await sql<{ id: string; name?: string }>`
        SELECT value AS id, coalesce(members.name, (
          SELECT member_name FROM audit WHERE member_id = value ORDER BY id DESC LIMIT 1)) AS name
        FROM ${getDialect(database).selectTextRows(memberIds)} LEFT JOIN members ON members.id = value`.execute(database);
      return new Map(rows.flatMap(({ id, name }) => (name ? [[id, name] as const] : [])));
    },

    /** Lists jobs with outputs of unknown size, newest first. */
    async listUnsized(connectionId: string, limit: number): Promise<{ jobId: string; outputs: number }[]> {
      const rows = await database
        .selectFrom("jobUsage")
        .select(["jobId", "outputs"])
        .where("connectionId", "=", connectionId)
        .where("isSized", "=", 0)
        .orderBy("at", "desc")
        .limit(limit)
        .execute();
      return rows.map(({ jobId, outputs }) => ({ jobId, outputs: outputs ?? 0 }));
    },

    async setSize(
      connectionId: string,
      jobId: string,
      { bytes, isPartial }: { bytes: number | undefined; isPartial: boolean },
    ): Promise<void> {
      await database
        .updateTable("jobUsage")
        .set({ bytes: bytes ?? null, isSized: isPartial ? PARTLY_SIZED : 1 })
        .where("connectionId", "=", connectionId)
        .where("jobId", "=", jobId)
        .execute();
    },

    async sweep(now: number): Promise<void> {
      await deleteBefore(database, "jobUsage", "at", now - RETENTION_MS);
    },
  };
}

/** Runs in the job index's transaction, so that both are written together. */
export async function recordUsage(trx: Kysely<Tables>, connectionId: string, { item, memberId, token, createdMs }: UsedJob): Promise<void> {
  if (memberId === undefined || createdMs <= 0) return;
  const { runMs, outputsCount } = toJobView(item);
  const outputs = outputsCount === undefined ? null : Math.max(0, Math.round(outputsCount));
  const hasEnded = isTerminalStatus(item.status);
  await sql`
    INSERT INTO job_usage (connection_id, job_id, member_id, at, word, run_ms, outputs, bytes, is_sized, token)
    VALUES (${connectionId}, ${item.id}, ${memberId}, ${createdMs}, ${item.status}, ${runMs === undefined ? null : Math.round(runMs)},
      ${outputs}, ${hasEnded && outputs === 0 ? 0 : null}, ${hasEnded && outputs !== null && outputs > 0 ? 0 : 1}, ${token ?? null})
    ON CONFLICT (connection_id, job_id) DO UPDATE SET
      at = excluded.at, word = excluded.word, token = coalesce(job_usage.token, excluded.token),
      run_ms = coalesce(excluded.run_ms, job_usage.run_ms), outputs = coalesce(excluded.outputs, job_usage.outputs),
      bytes = CASE WHEN job_usage.is_sized > 0 AND job_usage.bytes IS NOT NULL AND job_usage.outputs = excluded.outputs
        THEN job_usage.bytes ELSE excluded.bytes END,
      is_sized = CASE WHEN job_usage.bytes IS NOT NULL AND job_usage.outputs = excluded.outputs
        THEN job_usage.is_sized ELSE excluded.is_sized END`.execute(trx);
}
