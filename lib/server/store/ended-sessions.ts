// Sessions that were signed out: their cookies are still well made, and must open nothing any more.
// Guarantees: a session that was to be ended opens nothing from then on in this process, even where the disk did not take it; an entry stays until no cookie of its session can be valid; what has expired is swept at the next sign-out.

import "server-only";
import { type Database, prepareOne } from "./database";

export type EndedSessionStore = ReturnType<typeof createEndedSessionStore>;

export function createEndedSessionStore(database: Database) {
  const byId = prepareOne(database, database.selectFrom("ended_sessions").select("id").where("id", "=", ""));
  /** What is on its way to the disk, or did not get there. */
  const unstored = new Set<string>();
  return {
    async end(id: string, { now, expiresAt }: { now: number; expiresAt: number }): Promise<void> {
      unstored.add(id);
      await database.deleteFrom("ended_sessions").where("expires_at", "<=", now).execute();
      await database
        .insertInto("ended_sessions")
        .values({ id, expires_at: expiresAt })
        .onConflict((conflict) => conflict.column("id").doNothing())
        .execute();
      unstored.delete(id);
    },

    async has(id: string): Promise<boolean> {
      return unstored.has(id) || (await byId(id)) !== undefined;
    },

    async count(): Promise<number> {
      return (await database.selectFrom("ended_sessions").select("id").execute()).length;
    },
  };
}
