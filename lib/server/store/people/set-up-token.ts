// The one-time token of the first run, as a hash. Each start writes a new one; tokens older than `keptMs` stop working.

import "server-only";
import { createHash } from "node:crypto";
import { type Database } from "../database";

export type SetUpTokenStore = ReturnType<typeof createSetUpTokenStore>;

export function createSetUpTokenStore(database: Database) {
  return {
    async replace(token: string, now: number, keptMs = 0): Promise<void> {
      await database.transaction().execute(async (transaction) => {
        const all = transaction.deleteFrom("set_up_tokens");
        await (keptMs === 0 ? all : all.where("created_at", "<", now - keptMs)).execute();
        await transaction
          .insertInto("set_up_tokens")
          .values({ token_hash: hashToken(token), created_at: now })
          .execute();
      });
    },

    async has(token: string): Promise<boolean> {
      const row = await database
        .selectFrom("set_up_tokens")
        .select("created_at")
        .where("token_hash", "=", hashToken(token))
        .executeTakeFirst();
      return row !== undefined;
    },

    async clear(): Promise<void> {
      await database.deleteFrom("set_up_tokens").execute();
    },
  };
}

/** Tokens are 32 random bytes, so one round of SHA-256 is enough, and looking them up by hash reveals nothing useful. */
export function hashToken(token: string): string {
  return createHash("sha256").update(token).digest("hex");
}
