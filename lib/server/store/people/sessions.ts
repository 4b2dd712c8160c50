// Sessions of members, one row for each sign-in: without its row, a session is invalid.
// Guarantees: a session from before its member's last change of role or password is not found; an ended one opens nothing in this process
// from then on, even if the disk rejected the change; a member has at most a hundred, the last used ones.

import "server-only";
import { type Selectable, sql } from "kysely";
import { type Role } from "@/lib/contract/people/roles";
import { type Database, prepareOne } from "../database";
import { type Member, toMember } from "./members";
import { type SessionRow } from "./people-rows";

export type Session = {
  id: string;
  memberId: string;
  /** The member's session version at the sign-in. */
  version: number;
  /** `password`, or the party that vouched for the member. */
  method: string;
  browser: string;
  address: string;
  createdAt: number;
  /** Accurate to a minute. */
  usedAt: number;
  /** When the member's identity was last proved. */
  confirmedAt: number;
};
/** `ended`: by the member, from another browser. */
export type EndCause = "ended" | "password" | "suspended" | "removed" | `role ${Role} ${Role}`;
export type SessionLimits = { idleMs: number; longestMs: number };
export type SessionStore = ReturnType<typeof createSessionStore>;

const USE_EVERY_MS = 60_000;
const MOST_OF_A_MEMBER = 100;

export function createSessionStore(database: Database) {
  const found = database
    .selectFrom("sessions")
    .innerJoin("members", (join) =>
      join.onRef("members.id", "=", "sessions.member_id").onRef("members.session_version", "=", "sessions.version"),
    );
  const byId = prepareOne(
    database,
    found
      .selectAll("members")
      .select(["sessions.id as session_id", "method", "browser", "address", "used_at", "confirmed_at"])
      .select("sessions.created_at as began_at")
      .where("sessions.id", "=", ""),
  );
  /** Sessions whose end is being written, or could not be written. */
  const ending = new Set<string>();

  return {
    /** Deletes expired sessions. False if a session with this id continues: if many begin it at once, one did. */
    async begin(session: Session, limits: SessionLimits): Promise<boolean> {
      const { id, memberId, createdAt } = session;
      return database.transaction().execute(async (transaction) => {
        await transaction
          .deleteFrom("sessions")
          .where(({ or, eb }) => or([eb("created_at", "<=", createdAt - limits.longestMs), eb("used_at", "<=", createdAt - limits.idleMs)]))
          .execute();
        const newest = transaction
          .selectFrom("sessions")
          .select("id")
          .where("member_id", "=", memberId)
          .orderBy("used_at", "desc")
          .limit(MOST_OF_A_MEMBER - 1);
        await transaction.deleteFrom("sessions").where("member_id", "=", memberId).where("id", "not in", newest).execute();
        await transaction.deleteFrom("sessions").where("member_id", "=", memberId).where("version", "<", session.version).execute();
        await transaction
          .deleteFrom("ended_sessions")
          .where("at", "<=", createdAt - limits.longestMs)
          .execute();
        // Its end could not be written to the disk.
        if (ending.has(id)) await transaction.deleteFrom("sessions").where("id", "=", id).execute();
        await transaction.updateTable("members").set({ seen_at: createdAt }).where("id", "=", memberId).execute();
        const begun = await transaction
          .insertInto("sessions")
          .values(toRow(session))
          .onConflict((conflict) => conflict.column("id").doNothing())
          .executeTakeFirst();
        ending.delete(id);
        return Number(begun.numInsertedOrUpdatedRows) > 0;
      });
    },

    async find(id: string): Promise<{ session: Session; member: Member } | undefined> {
      const row = ending.has(id) ? undefined : await byId(id);
      if (!row) return undefined;
      const session = toSession({ ...row, id, member_id: row.id, version: row.session_version, created_at: row.began_at });
      return { session, member: toMember(row) };
    },

    /** The last used first. */
    async list(memberId: string): Promise<Session[]> {
      const rows = await found.selectAll("sessions").where("sessions.member_id", "=", memberId).orderBy("used_at", "desc").execute();
      return rows.filter(({ id }) => !ending.has(id)).map(toSession);
    },

    async noteUse({ id, memberId }: Session, { now, address }: { now: number; address?: string }): Promise<void> {
      await database.updateTable("members").set({ seen_at: now }).where("id", "=", memberId).execute();
      await database
        .updateTable("sessions")
        .set({ used_at: now, ...(address !== undefined && { address }) })
        .where("id", "=", id)
        .where("used_at", "<=", now - USE_EVERY_MS)
        .execute();
    },

    async confirm(id: string, now: number): Promise<void> {
      await database.updateTable("sessions").set({ confirmed_at: now }).where("id", "=", id).execute();
    },

    /**
     * Stores why the member's sessions are about to end, including embedded ones, or only the sessions with these ids. Call it before the
     * change that ends them.
     */
    async recordEndReasons(memberId: string, cause: EndCause, now: number, ids?: readonly string[]): Promise<void> {
      const columns = [sql<string>`cast(${cause} as text)`.as("cause"), sql<number>`cast(${now} as bigint)`.as("at")] as const;
      const live = database
        .selectFrom("sessions")
        .innerJoin("members", (join) =>
          join.onRef("members.id", "=", "sessions.member_id").onRef("members.session_version", "=", "sessions.version"),
        )
        .where("sessions.member_id", "=", memberId)
        .$if(ids !== undefined, (query) => query.where("sessions.id", "in", [...(ids ?? [])]))
        .select(["sessions.id", ...columns]);
      const embedded = database
        .selectFrom("embed_sessions")
        .innerJoin("members", (join) =>
          join.onRef("members.id", "=", "embed_sessions.member_id").onRef("members.session_version", "=", "embed_sessions.member_version"),
        )
        .where("embed_sessions.member_id", "=", memberId)
        .select(["embed_sessions.id", ...columns]);
      for (const ending of ids === undefined ? [live, embedded] : [live])
        await database
          .insertInto("ended_sessions")
          .columns(["id", "cause", "at"])
          .expression(ending)
          .onConflict((conflict) => conflict.column("id").doUpdateSet({ cause, at: now }))
          .execute();
    },

    async endCause(id: string): Promise<string | undefined> {
      const row = await database.selectFrom("ended_sessions").select("cause").where("id", "=", id).executeTakeFirst();
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

function toRow(session: Session): SessionRow {
  return {
    id: session.id,
    member_id: session.memberId,
    version: session.version,
    method: session.method,
    browser: session.browser,
    address: session.address,
    created_at: session.createdAt,
    used_at: session.usedAt,
    confirmed_at: session.confirmedAt,
  };
}

function toSession(row: Selectable<SessionRow>): Session {
  return {
    id: row.id,
    memberId: row.member_id,
    version: row.version,
    method: row.method,
    browser: row.browser,
    address: row.address,
    createdAt: Number(row.created_at),
    usedAt: Number(row.used_at),
    confirmedAt: Number(row.confirmed_at),
  };
}
