// Which press of Run was sent, and what came of it.
// Guarantees: one row per member and key, however many ask at once; a press that was sent and never answered stays as one.
// Must never: hold what was sent; only its SHA-256, and the service's answer as the browser got it.

import "server-only";
import { type Database } from "./database";

export type PressStore = ReturnType<typeof createPressStore>;
type Press = { memberId: string; key: string };
export type KeptPress = { contentHash: string; answer?: string; failure?: { code: string; message: string } };

export function createPressStore(database: Database) {
  const update = ({ memberId, key }: Press) =>
    database.updateTable("presses").where("member_id", "=", memberId).where("press_key", "=", key);

  return {
    /** False where it was begun before. Older ones than `forgetBefore` go. */
    async begin({ memberId, key }: Press, about: { contentHash: string; now: number; forgetBefore: number }): Promise<boolean> {
      await database.deleteFrom("presses").where("created_at", "<", about.forgetBefore).execute();
      const inserted = await database
        .insertInto("presses")
        .values({ member_id: memberId, press_key: key, content_hash: about.contentHash, created_at: about.now })
        .onConflict((conflict) => conflict.columns(["member_id", "press_key"]).doNothing())
        .executeTakeFirst();
      return inserted.numInsertedOrUpdatedRows === 1n;
    },

    async accepted(press: Press, answer: string): Promise<void> {
      await update(press).set({ answer }).execute();
    },

    async unknown(press: Press, { code, message }: { code: string; message: string }): Promise<void> {
      await update(press).set({ failure_code: code, failure_message: message }).execute();
    },

    /** Nothing was started: the key may be used again. */
    async forget({ memberId, key }: Press): Promise<void> {
      await database.deleteFrom("presses").where("member_id", "=", memberId).where("press_key", "=", key).execute();
    },

    async find({ memberId, key }: Press): Promise<KeptPress | undefined> {
      const row = await database
        .selectFrom("presses")
        .select(["content_hash", "answer", "failure_code", "failure_message"])
        .where("member_id", "=", memberId)
        .where("press_key", "=", key)
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
