// Labels of jobs that were started as copies of one run: "3/12 · seed 41".
// Guarantees: one row per connection and job; deleted with the connection, and after a year.
// Must never: be read for another connection than the job's.

import "server-only";
import { type Database } from "../database";
import { oneOf } from "../dialect/dialect";

const KEPT_MS = 366 * 24 * 60 * 60_000;

export type JobLabelStore = ReturnType<typeof createJobLabelStore>;

export function createJobLabelStore(database: Database) {
  return {
    async remember(connectionId: string, { jobId, label, now }: { jobId: string; label: string; now: number }): Promise<void> {
      await database
        .deleteFrom("job_labels")
        .where("created_at", "<", now - KEPT_MS)
        .execute();
      await database
        .insertInto("job_labels")
        .values({ connection_id: connectionId, job_id: jobId, label, created_at: now })
        .onConflict((conflict) => conflict.columns(["connection_id", "job_id"]).doUpdateSet({ label }))
        .execute();
    },

    /** Labels by job; jobs without a label are absent. */
    async list(connectionId: string, jobIds: readonly string[]): Promise<Map<string, string>> {
      const rows = await database
        .selectFrom("job_labels")
        .select(["job_id", "label"])
        .where("connection_id", "=", connectionId)
        .where("job_id", "in", oneOf(database, jobIds))
        .execute();
      return new Map(rows.map((row) => [row.job_id, row.label]));
    },
  };
}
