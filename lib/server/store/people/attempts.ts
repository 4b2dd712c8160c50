// Limits attempts with a token bucket for each name: `burst` at once, then one every `refillMs`. Stored, so that it holds for all consoles
// of a database together, whatever their clocks say, and after a restart. Guarantees: parallel attempts cannot exceed the limit.
// Must never: store a name in plain text; it may be an address.

import "server-only";
import { sql } from "kysely";
import { type Database } from "../database";
import { dialectOf } from "../dialect/dialect";
import { hashToken } from "../settings";

export type Bucket = { name: string; burst: number; refillMs: number };
export type AttemptStore = ReturnType<typeof createAttemptStore>;

export function createAttemptStore(database: Database) {
  const { clock } = dialectOf(database);
  const of = (name: string) => database.updateTable("attempts").where("name", "=", hashToken(name));
  return {
    /** Milliseconds to wait before the next one; 0 if this one may pass. With `count`, that many are taken at once, or none of them. */
    async take({ name, burst, refillMs }: Bucket, now: number, count = 1): Promise<number> {
      const at = clock(now);
      const later = (times: number) => sql<number>`${at} + ${Math.round(times * refillMs)}`;
      // A full bucket needs no row.
      await database.deleteFrom("attempts").where("fullAt", "<=", at).execute();
      const done = await database
        .insertInto("attempts")
        .values({ name: hashToken(name), fullAt: later(count) })
        .onConflict((conflict) =>
          conflict
            .column("name")
            .doUpdateSet({
              fullAt: sql<number>`CASE WHEN attempts.full_at > ${at} THEN attempts.full_at ELSE ${at} END + ${Math.round(count * refillMs)}`,
            })
            .where("attempts.fullAt", "<=", later(burst - count)),
        )
        .executeTakeFirst();
      if (Number(done.numInsertedOrUpdatedRows ?? 0) > 0) return 0;
      const left = sql<number>`full_at - ${at}`.as("left");
      const row = await database.selectFrom("attempts").select(left).where("name", "=", hashToken(name)).executeTakeFirst();
      return Math.max(1, Math.ceil(Number(row?.left ?? 0) - (burst - 1) * refillMs));
    },

    /** An attempt that was taken shall not count after all. */
    async giveBack({ name, refillMs }: Bucket): Promise<void> {
      await of(name)
        .set((row) => ({ fullAt: row("fullAt", "-", Math.round(refillMs)) }))
        .execute();
    },

    async reset({ name }: Bucket): Promise<void> {
      await database.deleteFrom("attempts").where("name", "=", hashToken(name)).execute();
    },
  };
}
