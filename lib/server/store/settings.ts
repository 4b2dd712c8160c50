// Console-wide settings by name, as text in a format of the owning module, and the hashed one-time token of the first run.

import "server-only";
import { createHash } from "node:crypto";
import { type Database, prepareOne } from "./database";

export type SettingStore = ReturnType<typeof createSettingStore>;

export function createSettingStore(database: Database) {
  const byName = prepareOne(database, database.selectFrom("settings").select("value").where("name", "=", ""));
  return {
    async get(name: string): Promise<string | undefined> {
      return (await byName(name))?.value;
    },

    /** False if it is set already; the value then stays as it was. */
    async add(name: string, value: string): Promise<boolean> {
      const done = await database
        .insertInto("settings")
        .values({ name, value })
        .onConflict((conflict) => conflict.column("name").doNothing())
        .executeTakeFirst();
      return Number(done.numInsertedOrUpdatedRows ?? 0) > 0;
    },

    /** Only if the value is still `before`; tells whether it was. */
    async replace(name: string, { before, after }: { before: string; after: string }): Promise<boolean> {
      const done = await database
        .updateTable("settings")
        .set({ value: after })
        .where("name", "=", name)
        .where("value", "=", before)
        .executeTakeFirst();
      return Number(done.numUpdatedRows) > 0;
    },

    async remove(name: string): Promise<void> {
      await database.deleteFrom("settings").where("name", "=", name).execute();
    },
  };
}

/** Each start writes a new token; tokens older than `keptMs` stop working. */
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

/** Tokens are 32 random bytes, so one round of SHA-256 is enough, and lookups by hash leak nothing useful. */
export function hashToken(token: string): string {
  return createHash("sha256").update(token).digest("hex");
}
