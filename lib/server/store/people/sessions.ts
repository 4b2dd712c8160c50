// Sessions of members. A session from before its member's last change of role or password is not found.

import "server-only";
import { sql } from "kysely";
import { type Role } from "@/lib/contract/people/roles";
import { type Database, prepareQuery } from "../database";
import { type Row } from "../tables";
import { type Member, toMember } from "./members";

export type Session = Row<"sessions">;
/** `ended`: by the member, from another browser. */
export type EndCause = "ended" | "password" | "suspended" | "removed" | `role ${Role} ${Role}`;
export type SessionLimits = { idleMs: number; longestMs: number };

const USE_EVERY_MS = 60_000;
const MAX_OF_A_MEMBER = 100;

export function createSessionStore(database: Database) {
  const sessionsOfMembers = database
    .selectFrom("sessions")
    .innerJoin("members", (join) =>
      join.onRef("members.id", "=", "sessions.memberId").onRef("members.sessionVersion", "=", "sessions.version"),
    );
  const byId = prepareQuery(
    database,
    sessionsOfMembers
      .selectAll("members")
      .select(["sessions.id as sessionId", "method", "browser", "address", "usedAt", "confirmedAt"])
      .select("sessions.createdAt as beganAt")
      .where("sessions.id", "=", ""),
  );
  /** Sessions whose end is not stored yet, or could not be stored. */
  const ending = new Set<string>();

  return {
    /** Deletes expired sessions. False if a session with this id continues: if many begin it at once, one did. */
    async begin(session: Session, limits: SessionLimits): Promise<boolean> {
      const { id, memberId, createdAt } = session;
      return database.transaction().execute(async (transaction) => {
        await transaction
          .deleteFrom("sessions")
          .where(({ or, eb }) => or([eb("createdAt", "<=", createdAt - limits.longestMs), eb("usedAt", "<=", createdAt - limits.idleMs)]))
          .execute();
        const newest = transaction
          .selectFrom("sessions")
          .select("id")
          .where("memberId", "=", memberId)
          .orderBy("usedAt", "desc")
          .limit(MAX_OF_A_MEMBER - 1);
        await transaction.deleteFrom("sessions").where("memberId", "=", memberId).where("id", "not in", newest).execute();
        await transaction.deleteFrom("sessions").where("memberId", "=", memberId).where("version", "<", session.version).execute();
        await transaction
          .deleteFrom("endedSessions")
          .where("at", "<=", createdAt - limits.longestMs)
          .execute();
        // The session's end could not be stored.
        if (ending.has(id)) await transaction.deleteFrom("sessions").where("id", "=", id).execute();
        await transaction.updateTable("members").set({ seenAt: createdAt }).where("id", "=", memberId).execute();
        const inserted = await transaction
          .insertInto("sessions")
          .values(session)
          .onConflict((conflict) => conflict.column("id").doNothing())
          .executeTakeFirst();
        ending.delete(id);
        return Number(inserted.numInsertedOrUpdatedRows) > 0;
      });
    },

    async find(id: string): Promise<{ session: Session; member: Member } | undefined> {
      const row = ending.has(id) ? undefined : await byId(id);
      if (!row) return undefined;
      const { sessionId: _, method, browser, address, usedAt, confirmedAt, beganAt: createdAt, ...member } = row;
      const version = row.sessionVersion;
      return {
        session: { id, memberId: row.id, version, method, browser, address, createdAt, usedAt, confirmedAt },
        member: toMember(member),
      };
    },

    async list(memberId: string): Promise<Session[]> {
      const rows = await sessionsOfMembers
        .selectAll("sessions")
        .where("sessions.memberId", "=", memberId)
        .orderBy("usedAt", "desc")
        .execute();
      return rows.filter(({ id }) => !ending.has(id));
    },

    async noteUse({ id, memberId }: Session, { now, address }: { now: number; address?: string }): Promise<void> {
      await database.updateTable("members").set({ seenAt: now }).where("id", "=", memberId).execute();
      await database
        .updateTable("sessions")
        .set({ usedAt: now, address })
        .where("id", "=", id)
        .where("usedAt", "<=", now - USE_EVERY_MS)
        .execute();
    },

    async confirm(id: string, now: number): Promise<void> {
      await database.updateTable("sessions").set({ confirmedAt: now }).where("id", "=", id).execute();
    },

    /**
     * Stores why the member's sessions are about to end, including embedded ones, or only the sessions with these ids. Call it before the
     * change that ends them.
     */
    async recordEndReasons(memberId: string, cause: EndCause, now: number, ids?: readonly string[]): Promise<void> {
      const columns = [sql<string>`cast(${cause} as text)`.as("cause"), sql<number>`cast(${now} as bigint)`.as("at")] as const;
      const live = sessionsOfMembers
        .where("sessions.memberId", "=", memberId)
        .$if(ids !== undefined, (query) => query.where("sessions.id", "in", [...(ids ?? [])]))
        .select(["sessions.id", ...columns]);
      const embedded = database
        .selectFrom("embedSessions")
        .innerJoin("members", (join) =>
          join.onRef("members.id", "=", "embedSessions.memberId").onRef("members.sessionVersion", "=", "embedSessions.memberVersion"),
        )
        .where("embedSessions.memberId", "=", memberId)
        .select(["embedSessions.id", ...columns]);
      for (const ending of ids === undefined ? [live, embedded] : [live])
        await database
          .insertInto("endedSessions")
          .columns(["id", "cause", "at"])
          .expression(ending)
          .onConflict((conflict) => conflict.column("id").doUpdateSet({ cause, at: now }))
          .execute();
    },

    async endCause(id: string): Promise<string | undefined> {
      const row = await database.selectFrom("endedSessions").select("cause").where("id", "=", id).executeTakeFirst();
      return row?.cause;
    },

    async end(id: string): Promise<void> {
      ending.add(id);
      await database.deleteFrom("sessions").where("id", "=", id).execute();
      ending.delete(id);
    },
  };
}

/** Whether the last use has to be written: decided from the row already read, so that most requests write nothing. */
export function isUseUnwritten({ usedAt }: Session, now: number): boolean {
  return usedAt <= now - USE_EVERY_MS;
}
