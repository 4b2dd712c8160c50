// Which members see the jobs of another member's own connection, and which files of its jobs they were shown.
// Guarantees: only personal connections, never the member's own; a right ends with the connection or the member, and is suspended with the
// owner. Must never: name a connection to anyone else.

import "server-only";
import { createHash } from "node:crypto";
import { writeExactJson } from "@/lib/contract/json/exact-json";
import { createLru } from "@/lib/shared/lru";
import { type Connection, toConnection } from "../connections";
import { type Database } from "../database";
import { oneOf } from "../dialect/dialect";

export type ShownFile = { filename: string; subfolder: string; type: string };
export type JobViewer = { memberId: string; name: string; givenBy: string | undefined; givenAt: number };
export type PersonalConnection = { id: string; ownerId: string; ownerName: string; createdAt: number };
export type JobViewerStore = ReturnType<typeof createJobViewerStore>;

const DAY_MS = 24 * 60 * 60_000;
const KEPT_MS = 30 * DAY_MS;
/** A statement of SQLite holds 32,766 values at most. */
const AT_ONCE = 5000;

export function createJobViewerStore(database: Database) {
  const seenBy = (memberId: string) =>
    database
      .selectFrom("job_viewers")
      .innerJoin("connections", "connections.id", "job_viewers.connection_id")
      .innerJoin("members as owner", "owner.id", "connections.member_id")
      .selectAll("connections")
      .select("owner.name as owner_name")
      .where("job_viewers.member_id", "=", memberId)
      .where("connections.member_id", "!=", memberId)
      .where("owner.disabled", "=", 0);

  /** Files that this process has noted today. */
  const noted = createLru<string, true>({ max: 50_000 });

  return {
    async listFor(memberId: string): Promise<Connection[]> {
      const rows = await seenBy(memberId).orderBy("connections.created_at").orderBy("connections.id").execute();
      return rows.map((row) => ({ ...toConnection(row), seenOf: row.owner_name }));
    },

    async getFor(memberId: string, connectionId: string): Promise<Connection | undefined> {
      const row = await seenBy(memberId).where("connections.id", "=", connectionId).executeTakeFirst();
      return row && { ...toConnection(row), seenOf: row.owner_name };
    },

    /** By connection, in the order in which members were given the right. */
    async viewersOf(connectionIds: readonly string[]): Promise<Map<string, JobViewer[]>> {
      const rows = await database
        .selectFrom("job_viewers")
        .innerJoin("members", "members.id", "job_viewers.member_id")
        .leftJoin("members as giver", "giver.id", "job_viewers.given_by")
        .select(["connection_id", "members.id", "members.name", "giver.name as giver", "given_at"])
        .where("connection_id", "in", oneOf(database, connectionIds))
        .orderBy("given_at")
        .orderBy("members.id")
        .execute();
      const viewers = new Map<string, JobViewer[]>();
      for (const { connection_id: id, giver, given_at: givenAt, ...member } of rows) {
        const viewer = { memberId: member.id, name: member.name, givenBy: giver ?? undefined, givenAt: Number(givenAt) };
        viewers.set(id, [...(viewers.get(id) ?? []), viewer]);
      }
      return viewers;
    },

    /** All members' own connections, without names and addresses. */
    async listPersonal(): Promise<PersonalConnection[]> {
      const rows = await database
        .selectFrom("connections")
        .innerJoin("members", "members.id", "connections.member_id")
        .select(["connections.id", "members.id as owner_id", "members.name as owner_name", "connections.created_at"])
        .orderBy("members.name")
        .orderBy("connections.created_at")
        .execute();
      return rows.map((row) => ({ id: row.id, ownerId: row.owner_id, ownerName: row.owner_name, createdAt: Number(row.created_at) }));
    },

    async give(connectionId: string, memberId: string, { givenBy, now }: { givenBy: string; now: number }): Promise<void> {
      await database
        .insertInto("job_viewers")
        .values({ connection_id: connectionId, member_id: memberId, given_by: givenBy, given_at: now })
        .onConflict((conflict) => conflict.columns(["connection_id", "member_id"]).doNothing())
        .execute();
    },

    /** False if there was none. */
    async take(connectionId: string, memberId: string): Promise<boolean> {
      const done = await database
        .deleteFrom("job_viewers")
        .where("connection_id", "=", connectionId)
        .where("member_id", "=", memberId)
        .executeTakeFirst();
      return Number(done.numDeletedRows) > 0;
    },

    /** Files of jobs in an answer to a member who may only see the jobs. */
    async noteShown(connectionId: string, files: readonly ShownFile[], now: number): Promise<void> {
      const day = Math.floor(now / DAY_MS);
      const fresh = [...new Set(files.map(hashOf))].filter((hash) => !noted.has(`${day} ${connectionId} ${hash}`));
      if (fresh.length === 0) return;
      await database
        .deleteFrom("shown_files")
        .where("at", "<", now - KEPT_MS)
        .execute();
      for (let from = 0; from < fresh.length; from += AT_ONCE) {
        const rows = fresh.slice(from, from + AT_ONCE).map((hash) => ({ connection_id: connectionId, file_hash: hash, at: now }));
        await database
          .insertInto("shown_files")
          .values(rows)
          .onConflict((conflict) => conflict.columns(["connection_id", "file_hash"]).doUpdateSet({ at: now }))
          .execute();
      }
      for (const hash of fresh) noted.set(`${day} ${connectionId} ${hash}`, true);
    },

    async wasShown(connectionId: string, file: ShownFile): Promise<boolean> {
      const row = await database
        .selectFrom("shown_files")
        .select("at")
        .where("connection_id", "=", connectionId)
        .where("file_hash", "=", hashOf(file))
        .executeTakeFirst();
      return row !== undefined;
    },
  };
}

function hashOf({ filename, subfolder, type }: ShownFile): string {
  return createHash("sha256")
    .update(writeExactJson([type, subfolder, filename]))
    .digest("base64url");
}
