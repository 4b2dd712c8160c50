// Console-wide settings, set-up tokens, and token buckets that limit attempts for all consoles of a database.

import "server-only";
import { createHash } from "node:crypto";
import { sql } from "kysely";
import { type Database, hasEffect, prepareQuery } from "./database";
import { getDialect } from "./dialect";

export type SettingStore = ReturnType<typeof createSettingStore>;

export function createSettingStore(database: Database) {
  const findByName = prepareQuery(database, database.selectFrom("settings").select("value").where("name", "=", ""));
  return {
    async get(name: string): Promise<string | undefined> {
      return (await findByName(name))?.value;
    },

    async add(name: string, value: string): Promise<boolean> {
      return hasEffect(
        database
          .insertInto("settings")
          .values({ name, value })
          .onConflict((conflict) => conflict.column("name").doNothing()),
      );
    },

    async replace(name: string, { before, after }: { before: string; after: string }): Promise<boolean> {
      return hasEffect(database.updateTable("settings").set({ value: after }).where("name", "=", name).where("value", "=", before));
    },

    async remove(name: string): Promise<void> {
      await database.deleteFrom("settings").where("name", "=", name).execute();
    },
  };
}

export function createSetUpTokenStore(database: Database) {
  return {
    async replace(token: string, now: number, graceMs = 0): Promise<void> {
      await database.transaction().execute(async (transaction) => {
        const deletion = transaction.deleteFrom("setUpTokens");
        await (graceMs === 0 ? deletion : deletion.where("createdAt", "<", now - graceMs)).execute();
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

export type Bucket = { name: string; burst: number; refillMs: number };
export type AttemptStore = ReturnType<typeof createAttemptStore>;

export function createAttemptStore(database: Database) {
  const { selectCurrentTime } = getDialect(database);
  const updateBucket = (name: string) => database.updateTable("attempts").where("name", "=", hashToken(name));
  return {
    /** Returns the milliseconds to wait, or 0 if the attempt may proceed. With `count`, consumes that many attempts or none. */
    async consume({ name, burst, refillMs }: Bucket, now: number, count = 1): Promise<number> {
      const currentTime = selectCurrentTime(now);
      const addRefills = (attemptCount: number) => sql<number>`${currentTime} + ${Math.round(attemptCount * refillMs)}`;
      // A full bucket needs no row.
      await database.deleteFrom("attempts").where("fullAt", "<=", currentTime).execute();
      const insertResult = await database
        .insertInto("attempts")
        .values({ name: hashToken(name), fullAt: addRefills(count) })
        .onConflict((conflict) =>
          conflict
            .column("name")
            .doUpdateSet({
              fullAt: sql<number>`CASE WHEN attempts.full_at > ${currentTime} THEN attempts.full_at ELSE ${currentTime} END + ${Math.round(count * refillMs)}`,
            })
            .where("attempts.fullAt", "<=", addRefills(burst - count)),
        )
        .executeTakeFirst();
      if (Number(insertResult.numInsertedOrUpdatedRows ?? 0) > 0) return 0;
      const remainingMs = sql<number>`full_at - ${currentTime}`.as("left");
      const row = await database.selectFrom("attempts").select(remainingMs).where("name", "=", hashToken(name)).executeTakeFirst();
      return Math.max(1, Math.ceil(Number(row?.left ?? 0) - (burst - 1) * refillMs));
    },

    async refund({ name, refillMs }: Bucket): Promise<void> {
      await updateBucket(name)
        .set((row) => ({ fullAt: row("fullAt", "-", Math.round(refillMs)) }))
        .execute();
    },

    async reset({ name }: Bucket): Promise<void> {
      await database.deleteFrom("attempts").where("name", "=", hashToken(name)).execute();
    },
  };
}
