// The one-time token of the first run, as a hash. Each start writes a new one; tokens older than `keptMs` stop working.

import "server-only";
import { createHash } from "node:crypto";
import { type Database } from "../database";

export type SetUpTokenStore = ReturnType<typeof createSetUpTokenStore>;

export function createSetUpTokenStore(database: Database) {
  return {
    async replace(token: string, now: number, keptMs = 0): Promise<void> {
      await database.transaction().execute(async (transaction) => {
        const all = transaction.deleteFrom("setUpTokens");
        await (keptMs === 0 ? all : all.where("createdAt", "<", now - keptMs)).execute();
        await transaction
          .insertInto("setUpTokens")
          .values({ tokenHash: hashToken(token), createdAt: now })
          .execute();
      });
    },

    async has(token: string): Promise<boolean> {
      const row = await database.selectFrom("setUpTokens").select("createdAt").where("tokenHash", "=", hashToken(token)).executeTakeFirst();
      return row !== undefined;
    },

    async clear(): Promise<void> {
      await database.deleteFrom("setUpTokens").execute();
    },
  };
}

/** Tokens are 32 random bytes, so one round of SHA-256 is enough, and looking them up by hash reveals nothing useful. */
export function hashToken(token: string): string {
  return createHash("sha256").update(token).digest("hex");
}
