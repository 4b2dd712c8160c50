// How often something was tried, as a token bucket for each name: `burst` at once, then one each `refillMs`. In the store, so that it holds
// for all consoles of a database together, and after a restart. Guarantees: of many at once no more pass than may.
// Must never: hold a name in the clear, which may be an address.

import "server-only";
import { sql } from "kysely";
import { type Database } from "../database";
import { hashToken } from "./set-up-token";

export type Bucket = { name: string; burst: number; refillMs: number };
export type AttemptStore = ReturnType<typeof createAttemptStore>;

export function createAttemptStore(database: Database) {
  const of = (name: string) => database.updateTable("attempts").where("name", "=", hashToken(name));
  return {
    /** Milliseconds to wait before the next one, 0 when this one may pass. */
    async take({ name, burst, refillMs }: Bucket, now: number): Promise<number> {
      // A bucket that is full needs no row.
      await database.deleteFrom("attempts").where("full_at", "<=", now).execute();
      const fullAt = sql<number>`CASE WHEN attempts.full_at > ${now} THEN attempts.full_at ELSE ${now} END + ${refillMs}`;
      const done = await database
        .insertInto("attempts")
        .values({ name: hashToken(name), full_at: now + refillMs })
        .onConflict((conflict) =>
          conflict
            .column("name")
            .doUpdateSet({ full_at: fullAt })
            .where("attempts.full_at", "<=", now + (burst - 1) * refillMs),
        )
        .executeTakeFirst();
      if (Number(done.numInsertedOrUpdatedRows ?? 0) > 0) return 0;
      const row = await database.selectFrom("attempts").select("full_at").where("name", "=", hashToken(name)).executeTakeFirst();
      return Math.max(1, Math.ceil((row?.full_at ?? now) + refillMs - now - burst * refillMs));
    },

    /** One that was taken did not count after all. */
    async giveBack({ name, refillMs }: Bucket): Promise<void> {
      await of(name)
        .set((row) => ({ full_at: row("full_at", "-", refillMs) }))
        .execute();
    },

    async reset({ name }: Bucket): Promise<void> {
      await database.deleteFrom("attempts").where("name", "=", hashToken(name)).execute();
    },
  };
}
