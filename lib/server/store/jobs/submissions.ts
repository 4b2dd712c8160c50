// Which submissions were sent to a service, and their results.
// Guarantees: one row per member and key, however many requests come at once; a submission without an answer stays recorded as sent.
// Must never: store what was sent; only its SHA-256, and the service's answer as the browser got it.

import "server-only";
import { type Database } from "../database";

export type SubmissionStore = ReturnType<typeof createSubmissionStore>;
export type Submission = { memberId: string; key: string };
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
