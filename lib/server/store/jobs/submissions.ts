// Stores submissions by idempotency key, job labels and workflow names.

import "server-only";
import { type BatchRef, MAX_BATCH_SIZE } from "@/lib/contract/workflow/submission";
import { type Database, deleteBefore, hasEffect } from "../database";
import { selectTexts } from "../dialect";

type Submission = { memberId: string; key: string };
export type Attempt = Submission & { startedAt: number };
export type StoredSubmission = { contentHash: string; answer?: string; failure?: { code: string; message: string } };

export function createSubmissionStore(database: Database) {
  const updateSubmission = ({ memberId, key }: Submission) =>
    database.updateTable("submissions").where("memberId", "=", memberId).where("idempotencyKey", "=", key);

  return {
    /** Returns false if the key was submitted before. Rows older than `forgetBefore` are deleted. */
    async start({ memberId, key }: Submission, details: { contentHash: string; now: number; forgetBefore: number }): Promise<boolean> {
      await deleteBefore(database, "submissions", "createdAt", details.forgetBefore);
      return hasEffect(
        database
          .insertInto("submissions")
          .values({ memberId, idempotencyKey: key, contentHash: details.contentHash, createdAt: details.now })
          .onConflict((conflict) => conflict.columns(["memberId", "idempotencyKey"]).doNothing()),
      );
    },

    async recordResponse(submission: Submission, text: string): Promise<void> {
      await updateSubmission(submission).set({ answer: text }).execute();
    },

    async recordFailure(submission: Submission, { code, message }: { code: string; message: string }): Promise<void> {
      await updateSubmission(submission).set({ failureCode: code, failureMessage: message }).execute();
    },

    /** Deletes the attempt, because nothing was started and the key may be reused. Doesn't delete a later attempt with the same key. */
    async remove({ memberId, key, startedAt }: Attempt): Promise<void> {
      await database
        .deleteFrom("submissions")
        .where("memberId", "=", memberId)
        .where("idempotencyKey", "=", key)
        .where("createdAt", "=", startedAt)
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
    async record(connectionId: string, { jobId, label = "", rerunOf, batch, now }: SubmittedJob): Promise<void> {
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
        rows.map(({ jobId, label, rerunOf }) => [jobId, { ...(label !== "" && { label }), ...(rerunOf !== undefined && { rerunOf }) }]),
      );
    },

    /** Returns batch ids by job id, for jobs of a batch. */
    async findBatchIds(connectionId: string, jobIds: readonly string[]): Promise<Map<string, string>> {
      const rows = await database
        .selectFrom("jobLabels")
        .select(["jobId", "batchId"])
        .where("connectionId", "=", connectionId)
        .where("jobId", "in", selectTexts(database, jobIds))
        .where("batchId", "is not", null)
        .execute();
      return new Map(rows.flatMap(({ jobId, batchId }) => (batchId === undefined ? [] : [[jobId, batchId]])));
    },

    /** Returns the jobs of a batch that were submitted so far. */
    async getBatch(connectionId: string, batchId: string): Promise<StoredBatch> {
      const rows = await database
        .selectFrom("jobLabels")
        .select(["jobId", "batchSize", "createdAt"])
        .where("connectionId", "=", connectionId)
        .where("batchId", "=", batchId)
        .orderBy("createdAt")
        .limit(MAX_BATCH_SIZE)
        .execute();
      const newestRow = rows.at(-1);
      return { jobIds: rows.map(({ jobId }) => jobId), size: newestRow?.batchSize ?? 0, newestAt: newestRow?.createdAt ?? 0 };
    },

    async listReruns(connectionId: string, jobId: string): Promise<string[]> {
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
    async record(connectionId: string, workflowId: string, name: string): Promise<void> {
      await database
        .insertInto("workflowNames")
        .values({ connectionId, workflowId, name })
        .onConflict((conflict) => conflict.columns(["connectionId", "workflowId"]).doUpdateSet({ name }))
        .execute();
    },

    /** Returns a connection's workflows, sorted by name. Limited, because users choose from this list. */
    async listAll(connectionId: string): Promise<{ id: string; name: string }[]> {
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
