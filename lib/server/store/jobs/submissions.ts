// Submissions by idempotency key, labels of jobs and names of workflows.

import "server-only";
import { type Database, hasEffect } from "../database";
import { oneOf } from "../dialect";

type Submission = { memberId: string; key: string };
export type Attempt = Submission & { begunAt: number };
export type KeptSubmission = { contentHash: string; answer?: string; failure?: { code: string; message: string } };

export function createSubmissionStore(database: Database) {
  const update = ({ memberId, key }: Submission) =>
    database.updateTable("submissions").where("memberId", "=", memberId).where("idempotencyKey", "=", key);

  return {
    /** False if it was begun before. Rows older than `forgetBefore` are deleted. */
    async begin({ memberId, key }: Submission, about: { contentHash: string; now: number; forgetBefore: number }): Promise<boolean> {
      await database.deleteFrom("submissions").where("createdAt", "<", about.forgetBefore).execute();
      return hasEffect(
        database
          .insertInto("submissions")
          .values({ memberId, idempotencyKey: key, contentHash: about.contentHash, createdAt: about.now })
          .onConflict((conflict) => conflict.columns(["memberId", "idempotencyKey"]).doNothing()),
      );
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
          answer: row.answer,
          ...(row.failureCode !== undefined && { failure: { code: row.failureCode, message: row.failureMessage ?? "" } }),
        }
      );
    },
  };
}

const KEPT_MS = 366 * 24 * 60 * 60_000;
const MAX_RERUNS = 20;

export type JobLabel = { label?: string; rerunOf?: string };

export function createJobLabelStore(database: Database) {
  return {
    async remember(connectionId: string, { jobId, label = "", rerunOf, now }: JobLabel & { jobId: string; now: number }): Promise<void> {
      await database
        .deleteFrom("jobLabels")
        .where("createdAt", "<", now - KEPT_MS)
        .execute();
      await database
        .insertInto("jobLabels")
        .values({ connectionId, jobId, label, rerunOf, createdAt: now })
        .onConflict((conflict) => conflict.columns(["connectionId", "jobId"]).doUpdateSet({ label, rerunOf: rerunOf ?? null }))
        .execute();
    },

    async list(connectionId: string, jobIds: readonly string[]): Promise<Map<string, JobLabel>> {
      const rows = await database
        .selectFrom("jobLabels")
        .select(["jobId", "label", "rerunOf"])
        .where("connectionId", "=", connectionId)
        .where("jobId", "in", oneOf(database, jobIds))
        .execute();
      return new Map(
        rows.map(({ jobId: id, label, rerunOf }) => [id, { ...(label !== "" && { label }), ...(rerunOf !== undefined && { rerunOf }) }]),
      );
    },

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

export function createWorkflowNameStore(database: Database) {
  return {
    /** `name` has passed the key gate. */
    async remember(connectionId: string, workflowId: string, name: string): Promise<void> {
      await database
        .insertInto("workflowNames")
        .values({ connectionId, workflowId, name })
        .onConflict((conflict) => conflict.columns(["connectionId", "workflowId"]).doUpdateSet({ name }))
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
