// Sessions of members. Sessions from before the member's last change of role or password are not found.

import "server-only";
import { sql } from "kysely";
import { type Role } from "@/lib/contract/members/roles";
import { type Database, prepareQuery, transactWithReserve } from "../database";
import { type Row } from "../tables";
import { type Member, toMember } from "./members";

export type Session = Row<"sessions">;
/** `ended`: by the member, from another browser. */
export type EndCause = "ended" | "password" | "suspended" | "removed" | `role ${Role} ${Role}`;
export type SessionLimits = { idleMs: number; maxMs: number };

const USE_WRITE_INTERVAL_MS = 60_000;
const MAX_PER_MEMBER = 100;

export function createSessionStore(database: Database) {
  const selectSessions = database
    .selectFrom("sessions")
    .innerJoin("members", (join) =>
      join.onRef("members.id", "=", "sessions.memberId").onRef("members.sessionVersion", "=", "sessions.version"),
    );
  const findById = prepareQuery(
    database,
    selectSessions
      .selectAll("members")
      .select(["sessions.id as sessionId", "method", "browser", "address", "usedAt", "confirmedAt"])
      .select("sessions.createdAt as beganAt")
      .where("sessions.id", "=", ""),
  );
  /** Ids of sessions whose end is not stored yet or could not be stored. */
  const endingIds = new Set<string>();

  return {
    /** Also deletes expired sessions. Returns false if a session with this id already exists. */
    async create(session: Session, limits: SessionLimits): Promise<boolean> {
      const { id, memberId, createdAt } = session;
      return transactWithReserve(database, async (transaction) => {
        await transaction
          .deleteFrom("sessions")
          .where(({ or, eb }) => or([eb("createdAt", "<=", createdAt - limits.maxMs), eb("usedAt", "<=", createdAt - limits.idleMs)]))
          .execute();
        const newestIds = transaction
          .selectFrom("sessions")
          .select("id")
          .where("memberId", "=", memberId)
          .orderBy("usedAt", "desc")
          .limit(MAX_PER_MEMBER - 1);
        await transaction.deleteFrom("sessions").where("memberId", "=", memberId).where("id", "not in", newestIds).execute();
        await transaction.deleteFrom("sessions").where("memberId", "=", memberId).where("version", "<", session.version).execute();
        await transaction
          .deleteFrom("endedSessions")
          .where("at", "<=", createdAt - limits.maxMs)
          .execute();
        // The session's end could not be stored.
        if (endingIds.has(id)) await transaction.deleteFrom("sessions").where("id", "=", id).execute();
        await transaction.updateTable("members").set({ seenAt: createdAt }).where("id", "=", memberId).execute();
        const insertResult = await transaction
          .insertInto("sessions")
          .values(session)
          .onConflict((conflict) => conflict.column("id").doNothing())
          .executeTakeFirst();
        endingIds.delete(id);
        return Number(insertResult.numInsertedOrUpdatedRows) > 0;
      });
    },

    async find(id: string): Promise<{ session: Session; member: Member } | undefined> {
      const row = endingIds.has(id) ? undefined : await findById(id);
      if (!row) return undefined;
      const { sessionId: _, method, browser, address, usedAt, confirmedAt, beganAt: createdAt, ...member } = row;
      const version = row.sessionVersion;
      return {
        session: { id, memberId: row.id, version, method, browser, address, createdAt, usedAt, confirmedAt },
        member: toMember(member),
      };
    },

    async list(memberId: string): Promise<Session[]> {
      const rows = await selectSessions.selectAll("sessions").where("sessions.memberId", "=", memberId).orderBy("usedAt", "desc").execute();
      return rows.filter(({ id }) => !endingIds.has(id));
    },

    async recordUse({ id, memberId }: Session, { now, address }: { now: number; address?: string }): Promise<void> {
      await database.updateTable("members").set({ seenAt: now }).where("id", "=", memberId).execute();
      await database
        .updateTable("sessions")
        .set({ usedAt: now, address })
        .where("id", "=", id)
        .where("usedAt", "<=", now - USE_WRITE_INTERVAL_MS)
        .execute();
    },

    async confirm(id: string, now: number): Promise<void> {
      await database.updateTable("sessions").set({ confirmedAt: now }).where("id", "=", id).execute();
    },

    /**
     * Stores why the member's sessions end. Includes embedded sessions, unless `ids` selects some sessions. Call it before the
     * change that ends them.
     */
    async recordEndReasons(memberId: string, cause: EndCause, now: number, ids?: readonly string[]): Promise<void> {
      const columns = [sql<string>`cast(${cause} as text)`.as("cause"), sql<number>`cast(${now} as bigint)`.as("at")] as const;
      const liveSessions = selectSessions
        .where("sessions.memberId", "=", memberId)
        .$if(ids !== undefined, (query) => query.where("sessions.id", "in", [...(ids ?? [])]))
        .select(["sessions.id", ...columns]);
      const embeddedSessions = database
        .selectFrom("embedSessions")
        .innerJoin("members", (join) =>
          join.onRef("members.id", "=", "embedSessions.memberId").onRef("members.sessionVersion", "=", "embedSessions.memberVersion"),
        )
        .where("embedSessions.memberId", "=", memberId)
        .select(["embedSessions.id", ...columns]);
      for (const sessions of ids === undefined ? [liveSessions, embeddedSessions] : [liveSessions])
        await database
          .insertInto("endedSessions")
          .columns(["id", "cause", "at"])
          .expression(sessions)
          .onConflict((conflict) => conflict.column("id").doUpdateSet({ cause, at: now }))
          .execute();
    },

    async getEndCause(id: string): Promise<string | undefined> {
      const row = await database.selectFrom("endedSessions").select("cause").where("id", "=", id).executeTakeFirst();
      return row?.cause;
    },

    async end(id: string): Promise<void> {
      endingIds.add(id);
      await database.deleteFrom("sessions").where("id", "=", id).execute();
      endingIds.delete(id);
    },
  };
}

/** True if the last use must be written. Checks the row that was already read, so that most requests write nothing. */
export function isUseOutdated({ usedAt }: Session, now: number): boolean {
  return usedAt <= now - USE_WRITE_INTERVAL_MS;
}
