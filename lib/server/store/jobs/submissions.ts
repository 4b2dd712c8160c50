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
    database.updateTable("submissions").where("memberId", "=", memberId).where("idempotencyKey", "=", key);

  return {
    /** False if it was begun before. Rows older than `forgetBefore` are deleted. */
    async begin({ memberId, key }: Submission, about: { contentHash: string; now: number; forgetBefore: number }): Promise<boolean> {
      await database.deleteFrom("submissions").where("createdAt", "<", about.forgetBefore).execute();
      const inserted = await database
        .insertInto("submissions")
        .values({ memberId, idempotencyKey: key, contentHash: about.contentHash, createdAt: about.now })
        .onConflict((conflict) => conflict.columns(["memberId", "idempotencyKey"]).doNothing())
        .executeTakeFirst();
      return inserted.numInsertedOrUpdatedRows === 1n;
    },

    async accepted(submission: Submission, answer: string): Promise<void> {
      await update(submission).set({ answer }).execute();
    },

    async unknown(submission: Submission, { code, message }: { code: string; message: string }): Promise<void> {
      await update(submission).set({ failureCode: code, failureMessage: message }).execute();
    },

    /** Nothing was started: the key may be used again. A later attempt with it stays. */
    async forget({ memberId, key, begunAt }: Attempt): Promise<void> {
      await database
        .deleteFrom("submissions")
        .where("memberId", "=", memberId)
        .where("idempotencyKey", "=", key)
        .where("createdAt", "=", begunAt)
        .where("answer", "is", null)
        .execute();
    },

    async find({ memberId, key }: Submission): Promise<KeptSubmission | undefined> {
      const row = await database
        .selectFrom("submissions")
        .select(["contentHash", "answer", "failureCode", "failureMessage"])
        .where("memberId", "=", memberId)
        .where("idempotencyKey", "=", key)
        .executeTakeFirst();
      return (
        row && {
          contentHash: row.contentHash,
          ...(row.answer !== null && { answer: row.answer }),
          ...(row.failureCode !== null && { failure: { code: row.failureCode, message: row.failureMessage ?? "" } }),
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
        .deleteFrom("jobLabels")
        .where("createdAt", "<", now - KEPT_MS)
        .execute();
      const facts = { label, rerunOf: rerunOf ?? null };
      await database
        .insertInto("jobLabels")
        .values({ connectionId, jobId, ...facts, createdAt: now })
        .onConflict((conflict) => conflict.columns(["connectionId", "jobId"]).doUpdateSet(facts))
        .execute();
    },

    /** By job. Jobs without data are absent. */
    async list(connectionId: string, jobIds: readonly string[]): Promise<Map<string, JobLabel>> {
      const rows = await database
        .selectFrom("jobLabels")
        .select(["jobId", "label", "rerunOf"])
        .where("connectionId", "=", connectionId)
        .where("jobId", "in", oneOf(database, jobIds))
        .execute();
      return new Map(
        rows.map(({ jobId: id, label, rerunOf }) => [id, { ...(label !== "" && { label }), ...(rerunOf !== null && { rerunOf }) }]),
      );
    },

    /** The job's reruns, newest first. */
    async rerunsOf(connectionId: string, jobId: string): Promise<string[]> {
      const rows = await database
        .selectFrom("jobLabels")
        .select("jobId")
        .where("connectionId", "=", connectionId)
        .where("rerunOf", "=", jobId)
        .orderBy("createdAt", "desc")
        .limit(MAX_RERUNS)
        .execute();
      return rows.map((row) => row.jobId);
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
        .insertInto("workflowNames")
        .values({ connectionId, workflowId, name, isMasked: 1 })
        .onConflict((conflict) => conflict.columns(["connectionId", "workflowId"]).doUpdateSet({ name, isMasked: 1 }))
        .execute();
    },

    /** Names stored before the key gate existed. */
    async unmasked(): Promise<{ connectionId: string; workflowId: string; name: string }[]> {
      return database.selectFrom("workflowNames").select(["connectionId", "workflowId", "name"]).where("isMasked", "=", 0).execute();
    },

    /** `isFinal`: it need not be checked again. */
    async mask(connectionId: string, workflowId: string, name: string, isFinal: boolean): Promise<void> {
      await database
        .updateTable("workflowNames")
        .set({ name, isMasked: isFinal ? 1 : 0 })
        .where("connectionId", "=", connectionId)
        .where("workflowId", "=", workflowId)
        .execute();
    },

    /** A connection's workflows by name; as many as a person may look through. */
    async all(connectionId: string): Promise<{ id: string; name: string }[]> {
      return database
        .selectFrom("workflowNames")
        .select(["workflowId as id", "name"])
        .where("connectionId", "=", connectionId)
        .orderBy("name")
        .limit(MAX_LISTED)
        .execute();
    },

    /** Names by workflow id; workflows without a name are absent. */
    async list(connectionId: string, workflowIds: readonly string[]): Promise<Map<string, string>> {
      const rows = await database
        .selectFrom("workflowNames")
        .select(["workflowId", "name"])
        .where("connectionId", "=", connectionId)
        .where("workflowId", "in", oneOf(database, workflowIds))
        .execute();
      return new Map(rows.map((row) => [row.workflowId, row.name]));
    },
  };
}
