// Submissions by idempotency key, labels of jobs and names of workflows.

import "server-only";
import { type BatchRef, MAX_BATCH_SIZE } from "@/lib/contract/workflow/submission";
import { type Database, deleteBefore, hasEffect } from "../database";
import { selectTexts } from "../dialect";

type Submission = { memberId: string; key: string };
export type Attempt = Submission & { begunAt: number };
export type StoredSubmission = { contentHash: string; answer?: string; failure?: { code: string; message: string } };

export function createSubmissionStore(database: Database) {
  const update = ({ memberId, key }: Submission) =>
    database.updateTable("submissions").where("memberId", "=", memberId).where("idempotencyKey", "=", key);

  return {
    /** False if it was submitted before. Rows older than `forgetBefore` are deleted. */
    async begin({ memberId, key }: Submission, details: { contentHash: string; now: number; forgetBefore: number }): Promise<boolean> {
      await deleteBefore(database, "submissions", "createdAt", details.forgetBefore);
      return hasEffect(
        database
          .insertInto("submissions")
          .values({ memberId, idempotencyKey: key, contentHash: details.contentHash, createdAt: details.now })
          .onConflict((conflict) => conflict.columns(["memberId", "idempotencyKey"]).doNothing()),
      );
    },

    async accepted(submission: Submission, text: string): Promise<void> {
      await update(submission).set({ answer: text }).execute();
    },

    async unknown(submission: Submission, { code, message }: { code: string; message: string }): Promise<void> {
      await update(submission).set({ failureCode: code, failureMessage: message }).execute();
    },

    /** Deletes the attempt, because nothing was started and the key may be reused. A later attempt with it is kept. */
    async forget({ memberId, key, begunAt }: Attempt): Promise<void> {
      await database
        .deleteFrom("submissions")
        .where("memberId", "=", memberId)
        .where("idempotencyKey", "=", key)
        .where("createdAt", "=", begunAt)
        .where("answer", "is", null)
        .execute();
    },

    async find({ memberId, key }: Submission): Promise<StoredSubmission | undefined> {
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

const RETENTION_MS = 366 * 24 * 60 * 60_000;
const MAX_RERUNS = 20;

export type JobLabel = { label?: string; rerunOf?: string };
type SubmittedJob = JobLabel & { batch?: BatchRef; jobId: string; now: number };
export type StoredBatch = { jobIds: string[]; size: number; newestAt: number };

export type JobLabelStore = ReturnType<typeof createJobLabelStore>;

export function createJobLabelStore(database: Database) {
  return {
    async remember(connectionId: string, { jobId, label = "", rerunOf, batch, now }: SubmittedJob): Promise<void> {
      await deleteBefore(database, "jobLabels", "createdAt", now - RETENTION_MS);
      await database
        .insertInto("jobLabels")
        .values({ connectionId, jobId, label, rerunOf, batchId: batch?.id, batchSize: batch?.size, createdAt: now })
        .onConflict((conflict) => conflict.columns(["connectionId", "jobId"]).doUpdateSet({ label, rerunOf: rerunOf ?? null }))
        .execute();
    },

    async list(connectionId: string, jobIds: readonly string[]): Promise<Map<string, JobLabel>> {
      const rows = await database
        .selectFrom("jobLabels")
        .select(["jobId", "label", "rerunOf"])
        .where("connectionId", "=", connectionId)
        .where("jobId", "in", selectTexts(database, jobIds))
        .execute();
      return new Map(
        rows.map(({ jobId: id, label, rerunOf }) => [id, { ...(label !== "" && { label }), ...(rerunOf !== undefined && { rerunOf }) }]),
      );
    },

    /** The batch ids by job id, for jobs of a batch. */
    async batchesOf(connectionId: string, jobIds: readonly string[]): Promise<Map<string, string>> {
      const rows = await database
        .selectFrom("jobLabels")
        .select(["jobId", "batchId"])
        .where("connectionId", "=", connectionId)
        .where("jobId", "in", selectTexts(database, jobIds))
        .where("batchId", "is not", null)
        .execute();
      return new Map(rows.flatMap(({ jobId, batchId }) => (batchId === undefined ? [] : [[jobId, batchId]])));
    },

    /** The jobs of a batch that were submitted so far. */
    async batch(connectionId: string, batchId: string): Promise<StoredBatch> {
      const rows = await database
        .selectFrom("jobLabels")
        .select(["jobId", "batchSize", "createdAt"])
        .where("connectionId", "=", connectionId)
        .where("batchId", "=", batchId)
        .orderBy("createdAt")
        .limit(MAX_BATCH_SIZE)
        .execute();
      const newest = rows.at(-1);
      return { jobIds: rows.map(({ jobId }) => jobId), size: newest?.batchSize ?? 0, newestAt: newest?.createdAt ?? 0 };
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

const MAX_WORKFLOWS = 2_000;

export function createWorkflowNameStore(database: Database) {
  return {
    /** `name` has already been redacted. */
    async remember(connectionId: string, workflowId: string, name: string): Promise<void> {
      await database
        .insertInto("workflowNames")
        .values({ connectionId, workflowId, name })
        .onConflict((conflict) => conflict.columns(["connectionId", "workflowId"]).doUpdateSet({ name }))
        .execute();
    },

    /** A connection's workflows by name. Limited, because people choose from this list. */
    async all(connectionId: string): Promise<{ id: string; name: string }[]> {
      return database
        .selectFrom("workflowNames")
        .select(["workflowId as id", "name"])
        .where("connectionId", "=", connectionId)
        .orderBy("name")
        .limit(MAX_WORKFLOWS)
        .execute();
    },

    async list(connectionId: string, workflowIds: readonly string[]): Promise<Map<string, string>> {
      const rows = await database
        .selectFrom("workflowNames")
        .select(["workflowId", "name"])
        .where("connectionId", "=", connectionId)
        .where("workflowId", "in", selectTexts(database, workflowIds))
        .execute();
      return new Map(rows.map((row) => [row.workflowId, row.name]));
    },
  };
}
