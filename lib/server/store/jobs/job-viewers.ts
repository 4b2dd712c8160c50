// Members who may see the jobs of another member's own connection, and the files that were returned to them.

import "server-only";
import { createHash } from "node:crypto";
import { writeExactJson } from "@/lib/contract/json/exact-json";
import { createLru } from "@/lib/shared/lru";
import { type Connection, toConnection } from "../connections";
import { type Database, deleteBefore, hasEffect } from "../database";
import { selectTexts } from "../dialect";
import { type Row } from "../tables";

export type ShownFile = { filename: string; subfolder: string; type: string };
export type JobViewer = { memberId: string; name: string; givenBy: string | undefined; givenAt: number };
export type PersonalConnection = { id: string; ownerId: string; ownerName: string; createdAt: number };

const DAY_MS = 24 * 60 * 60_000;
const RETENTION_MS = 30 * DAY_MS;
/** SQLite allows at most 32,766 values per statement. */
const BATCH_SIZE = 5000;

function toSharedConnection(row: Row<"connections"> & { seenOf: string }): Connection {
  const connection = toConnection(row);
  return { ...connection, hasAssets: false, lacks: [...connection.lacks, "assets", "fullAccess"] };
}

export function createJobViewerStore(database: Database) {
  const selectVisibleTo = (memberId: string) =>
    database
      .selectFrom("jobViewers")
      .innerJoin("connections", "connections.id", "jobViewers.connectionId")
      .innerJoin("members as owner", "owner.id", "connections.memberId")
      .selectAll("connections")
      .select("owner.name as seenOf")
      .where("jobViewers.memberId", "=", memberId)
      .where("connections.memberId", "!=", memberId)
      .where("owner.disabled", "=", false);

  /** Files that this process has already recorded today. */
  const filesRecordedToday = createLru<string, true>({ max: 50_000 });

  return {
    async listFor(memberId: string): Promise<Connection[]> {
      const rows = await selectVisibleTo(memberId).orderBy("connections.createdAt").orderBy("connections.id").execute();
      return rows.map(toSharedConnection);
    },

    async getFor(memberId: string, connectionId: string): Promise<Connection | undefined> {
      const row = await selectVisibleTo(memberId).where("connections.id", "=", connectionId).executeTakeFirst();
      return row && toSharedConnection(row);
    },

    /** Returns the viewers by connection, ordered by when access was granted. */
    async listViewers(connectionIds: readonly string[]): Promise<Map<string, JobViewer[]>> {
      const rows = await database
        .selectFrom("jobViewers")
        .innerJoin("members", "members.id", "jobViewers.memberId")
        .leftJoin("members as giver", "giver.id", "jobViewers.givenBy")
        .select(["connectionId", "members.id", "members.name", "giver.name as giver", "givenAt"])
        .where("connectionId", "in", selectTexts(database, connectionIds))
        .orderBy("givenAt")
        .orderBy("members.id")
        .execute();
      const viewers = new Map<string, JobViewer[]>();
      for (const { connectionId, giver, givenAt, ...member } of rows) {
        const viewer = { memberId: member.id, name: member.name, givenBy: giver ?? undefined, givenAt };
        viewers.set(connectionId, [...(viewers.get(connectionId) ?? []), viewer]);
      }
      return viewers;
    },

    /** Lists all members' own connections, without names and URLs. */
    async listPersonal(): Promise<PersonalConnection[]> {
      return database
        .selectFrom("connections")
        .innerJoin("members", "members.id", "connections.memberId")
        .select(["connections.id", "members.id as ownerId", "members.name as ownerName", "connections.createdAt"])
        .orderBy("members.name")
        .orderBy("connections.createdAt")
        .execute();
    },

    async grant(connectionId: string, memberId: string, { givenBy, now }: { givenBy: string; now: number }): Promise<void> {
      await database
        .insertInto("jobViewers")
        .values({ connectionId, memberId, givenBy, givenAt: now })
        .onConflict((conflict) => conflict.columns(["connectionId", "memberId"]).doNothing())
        .execute();
    },

    async revoke(connectionId: string, memberId: string): Promise<boolean> {
      return hasEffect(database.deleteFrom("jobViewers").where("connectionId", "=", connectionId).where("memberId", "=", memberId));
    },

    /** Records job files that were returned to a member who may only see the jobs. */
    async recordShownFiles(connectionId: string, files: readonly ShownFile[], now: number): Promise<void> {
      const day = Math.floor(now / DAY_MS);
      const newHashes = [...new Set(files.map(hashFile))].filter((hash) => !filesRecordedToday.has(`${day} ${connectionId} ${hash}`));
      if (newHashes.length === 0) return;
      await deleteBefore(database, "shownFiles", "at", now - RETENTION_MS);
      for (let offset = 0; offset < newHashes.length; offset += BATCH_SIZE) {
        const rows = newHashes.slice(offset, offset + BATCH_SIZE).map((hash) => ({ connectionId, fileHash: hash, at: now }));
        await database
          .insertInto("shownFiles")
          .values(rows)
          .onConflict((conflict) => conflict.columns(["connectionId", "fileHash"]).doUpdateSet({ at: now }))
          .execute();
      }
      for (const hash of newHashes) filesRecordedToday.set(`${day} ${connectionId} ${hash}`, true);
    },

    async hasShownFile(connectionId: string, file: ShownFile): Promise<boolean> {
      const row = await database
        .selectFrom("shownFiles")
        .select("at")
        .where("connectionId", "=", connectionId)
        .where("fileHash", "=", hashFile(file))
        .executeTakeFirst();
      return row !== undefined;
    },
  };
}

function hashFile({ filename, subfolder, type }: ShownFile): string {
  return createHash("sha256")
    .update(writeExactJson([type, subfolder, filename]))
    .digest("base64url");
}
