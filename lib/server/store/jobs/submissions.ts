// Submissions by idempotency key, labels of jobs and names of workflows.

import "server-only";
import { type Database } from "../database";
import { oneOf } from "../dialect/dialect";

export type SubmissionStore = ReturnType<typeof createSubmissionStore>;
type Submission = { memberId: string; key: string };
/** One try to send it. */
export type Attempt = Submission & { begunAt: number };
export type KeptSubmission = { contentHash: string; answer?: string; failure?: { code: string; message: string } };

export function createSubmissionStore(database: Database) {
  const update = ({ memberId, key }: Submission) =>
    database.updateTable("submissions").where("member_id", "=", memberId).where("idempotency_key", "=", key);

  return {
    /** False if it was begun before. Rows older than `forgetBefore` are deleted. */
    async begin({ memberId, key }: Submission, about: { contentHash: string; now: number; forgetBefore: number }): Promise<boolean> {
      await database.deleteFrom("submissions").where("created_at", "<", about.forgetBefore).execute();
      const inserted = await database
        .insertInto("submissions")
        .values({ member_id: memberId, idempotency_key: key, content_hash: about.contentHash, created_at: about.now })
        .onConflict((conflict) => conflict.columns(["member_id", "idempotency_key"]).doNothing())
        .executeTakeFirst();
      return inserted.numInsertedOrUpdatedRows === 1n;
    },

    async accepted(submission: Submission, answer: string): Promise<void> {
      await update(submission).set({ answer }).execute();
    },

    async unknown(submission: Submission, { code, message }: { code: string; message: string }): Promise<void> {
      await update(submission).set({ failure_code: code, failure_message: message }).execute();
    },

    /** Nothing was started: the key may be used again. A later attempt with it stays. */
    async forget({ memberId, key, begunAt }: Attempt): Promise<void> {
      await database
        .deleteFrom("submissions")
        .where("member_id", "=", memberId)
        .where("idempotency_key", "=", key)
        .where("created_at", "=", begunAt)
        .where("answer", "is", null)
        .execute();
    },

    async find({ memberId, key }: Submission): Promise<KeptSubmission | undefined> {
      const row = await database
        .selectFrom("submissions")
        .select(["content_hash", "answer", "failure_code", "failure_message"])
        .where("member_id", "=", memberId)
        .where("idempotency_key", "=", key)
        .executeTakeFirst();
      return (
        row && {
          contentHash: row.content_hash,
          ...(row.answer !== null && { answer: row.answer }),
          ...(row.failure_code !== null && { failure: { code: row.failure_code, message: row.failure_message ?? "" } }),
        }
      );
    },
  };
}

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

const MAX_LISTED = 2_000;

export type WorkflowNameStore = ReturnType<typeof createWorkflowNameStore>;

export function createWorkflowNameStore(database: Database) {
  return {
    /** `name` has passed the key gate. */
    async remember(connectionId: string, workflowId: string, name: string): Promise<void> {
      await database
        .insertInto("workflow_names")
        .values({ connection_id: connectionId, workflow_id: workflowId, name, is_masked: 1 })
        .onConflict((conflict) => conflict.columns(["connection_id", "workflow_id"]).doUpdateSet({ name, is_masked: 1 }))
        .execute();
    },

    /** Names stored before the key gate existed. */
    async unmasked(): Promise<{ connectionId: string; workflowId: string; name: string }[]> {
      const rows = await database.selectFrom("workflow_names").selectAll().where("is_masked", "=", 0).execute();
      return rows.map((row) => ({ connectionId: row.connection_id, workflowId: row.workflow_id, name: row.name }));
    },

    /** `isFinal`: it need not be checked again. */
    async mask(connectionId: string, workflowId: string, name: string, isFinal: boolean): Promise<void> {
      await database
        .updateTable("workflow_names")
        .set({ name, is_masked: isFinal ? 1 : 0 })
        .where("connection_id", "=", connectionId)
        .where("workflow_id", "=", workflowId)
        .execute();
    },

    /** A connection's workflows by name; as many as a person may look through. */
    async all(connectionId: string): Promise<{ id: string; name: string }[]> {
      const rows = await database
        .selectFrom("workflow_names")
        .select(["workflow_id", "name"])
        .where("connection_id", "=", connectionId)
        .orderBy("name")
        .limit(MAX_LISTED)
        .execute();
      return rows.map((row) => ({ id: row.workflow_id, name: row.name }));
    },

    /** Names by workflow id; workflows without a name are absent. */
    async list(connectionId: string, workflowIds: readonly string[]): Promise<Map<string, string>> {
      const rows = await database
        .selectFrom("workflow_names")
        .select(["workflow_id", "name"])
        .where("connection_id", "=", connectionId)
        .where("workflow_id", "in", oneOf(database, workflowIds))
        .execute();
      return new Map(rows.map((row) => [row.workflow_id, row.name]));
    },
  };
}
