// The console's own data about a submission: its label among the copies of one run ("3/12 · seed 41"), and the original that it reruns.
// Guarantees: one row per connection and job; deleted with the connection, and after a year.
// Must never: be read for another connection than the job's.

import "server-only";
import { type Database } from "../database";
import { oneOf } from "../dialect/dialect";

const KEPT_MS = 366 * 24 * 60 * 60_000;
const MAX_RERUNS = 20;

export type JobLabelStore = ReturnType<typeof createJobLabelStore>;
export type JobLabel = { label?: string; rerunOf?: string };

export function createJobLabelStore(database: Database) {
  return {
    async remember(connectionId: string, { jobId, label = "", rerunOf, now }: JobLabel & { jobId: string; now: number }): Promise<void> {
      await database
        .deleteFrom("job_labels")
        .where("created_at", "<", now - KEPT_MS)
        .execute();
      const facts = { label, rerun_of: rerunOf ?? null };
      await database
        .insertInto("job_labels")
        .values({ connection_id: connectionId, job_id: jobId, ...facts, created_at: now })
        .onConflict((conflict) => conflict.columns(["connection_id", "job_id"]).doUpdateSet(facts))
        .execute();
    },

    /** By job. Jobs without data are absent. */
    async list(connectionId: string, jobIds: readonly string[]): Promise<Map<string, JobLabel>> {
      const rows = await database
        .selectFrom("job_labels")
        .select(["job_id", "label", "rerun_of"])
        .where("connection_id", "=", connectionId)
        .where("job_id", "in", oneOf(database, jobIds))
        .execute();
      return new Map(
        rows.map(({ job_id: id, label, rerun_of: rerunOf }) => [
          id,
          { ...(label !== "" && { label }), ...(rerunOf !== null && { rerunOf }) },
        ]),
      );
    },

    /** The job's reruns, newest first. */
    async rerunsOf(connectionId: string, jobId: string): Promise<string[]> {
      const rows = await database
        .selectFrom("job_labels")
        .select("job_id")
        .where("connection_id", "=", connectionId)
        .where("rerun_of", "=", jobId)
        .orderBy("created_at", "desc")
        .limit(MAX_RERUNS)
        .execute();
      return rows.map((row) => row.job_id);
    },
  };
}
