// Shares: links for people without an account, and what each shows.
// Guarantees: a token is stored as its hash; a share is found by token only while it is open and its maker is a member who is not
// suspended; nothing is added to its items. Must never: return an item without the share that it belongs to.

import "server-only";
import { z } from "zod";
import { writeExactJson } from "@/lib/contract/json/exact-json";
import { mediaKinds } from "@/lib/contract/views/outputs-view";
import { type Database } from "./database";
import { hashToken } from "./settings";
import { type ShareRow } from "./tables";

const KEPT_MS = 90 * 24 * 60 * 60_000;
const MOST_LISTED = 500;
/** Passwords that may be tried on one share within a quarter of an hour, from all addresses together. */
const MOST_ATTEMPTS = 20;
const ATTEMPTS_MS = 15 * 60_000;

const place = z.object({ filename: z.string(), subfolder: z.string(), type: z.string() });
const itemSchema = z.object({
  /** Where it is at the service: exactly one of these is set. */
  asset: z.string().optional(),
  file: place.optional(),
  text: z.string().optional(),
  name: z.string(),
  kind: z.enum(mediaKinds).exclude(["json"]),
  mimeType: z.string().optional(),
  size: z.number().optional(),
  /** BLAKE3, in hexadecimal. */
  hash: z.string().optional(),
  /** The service names it by content, so it cannot change. Otherwise `validator` identifies the content as it was when shared. */
  isFixed: z.boolean(),
  validator: z.string().optional(),
  width: z.number().optional(),
  height: z.number().optional(),
});
export type ShareItem = z.infer<typeof itemSchema>;

export type Share = {
  id: string;
  memberId: string;
  connectionId: string;
  /** The connection's address when the share was made: elsewhere the same id means something else. */
  baseUrl: string;
  jobId: string | undefined;
  title: string;
  passwordHash: string | undefined;
  keepsMetadata: boolean;
  showsMaker: boolean;
  showsWorkflow: boolean;
  createdAt: number;
  expiresAt: number;
};
export type NewShare = Share & { token: string; items: readonly ShareItem[] };
export type ListedShare = Share & {
  maker: string;
  makerRole: string;
  isSuspended: boolean;
  connection: string;
  count: number;
  revokedAt: number | undefined;
  views: number;
  downloads: number;
};
export type ShareStore = ReturnType<typeof createShareStore>;

export function createShareStore(database: Database) {
  const open = (now: number) =>
    database
      .selectFrom("shares")
      .innerJoin("members", "members.id", "shares.memberId")
      .where("members.disabled", "=", 0)
      .where("revokedAt", "is", null)
      .where("expiresAt", ">", now);
  const add = async (id: string, column: "views" | "downloads") => {
    await database
      .updateTable("shares")
      .set((where) => ({ [column]: where(column, "+", 1) }))
      .where("id", "=", id)
      .execute();
  };

  return {
    async create({ token, items, ...share }: NewShare): Promise<void> {
      await database.transaction().execute(async (transaction) => {
        await transaction
          .deleteFrom("shares")
          .where("expiresAt", "<", share.createdAt - KEPT_MS)
          .execute();
        await transaction
          .insertInto("shares")
          .values({
            id: share.id,
            tokenHash: hashToken(token),
            memberId: share.memberId,
            connectionId: share.connectionId,
            baseUrl: share.baseUrl,
            jobId: share.jobId ?? null,
            title: share.title,
            passwordHash: share.passwordHash ?? null,
            keepsMetadata: share.keepsMetadata ? 1 : 0,
            showsMaker: share.showsMaker ? 1 : 0,
            showsWorkflow: share.showsWorkflow ? 1 : 0,
            createdAt: share.createdAt,
            expiresAt: share.expiresAt,
            revokedAt: null,
          })
          .execute();
        const rows = items.map((item, index) => ({ shareId: share.id, number: index + 1, item: writeExactJson(item), pieces: null }));
        if (rows.length > 0) await transaction.insertInto("shareItems").values(rows).execute();
      });
    },

    async findByToken(token: string, now: number): Promise<Share | undefined> {
      const row = await open(now).selectAll("shares").where("tokenHash", "=", hashToken(token)).executeTakeFirst();
      return row && toShare(row);
    },

    async isOpen(id: string, now: number): Promise<boolean> {
      return (await open(now).select("shares.id").where("shares.id", "=", id).executeTakeFirst()) !== undefined;
    },

    async items(shareId: string): Promise<{ number: number; item: ShareItem }[]> {
      const rows = await database
        .selectFrom("shareItems")
        .select(["number", "item"])
        .where("shareId", "=", shareId)
        .orderBy("number")
        .execute();
      return rows.map(({ number, item }) => ({ number, item: itemSchema.parse(JSON.parse(item)) }));
    },

    /** `pieces`: JSON, once the file has been cleaned. */
    async item(shareId: string, number: number): Promise<{ item: ShareItem; pieces: string | undefined } | undefined> {
      const row = await database
        .selectFrom("shareItems")
        .select(["item", "pieces"])
        .where("shareId", "=", shareId)
        .where("number", "=", number)
        .executeTakeFirst();
      return row && { item: itemSchema.parse(JSON.parse(row.item)), pieces: row.pieces ?? undefined };
    },

    async keepPieces(shareId: string, number: number, pieces: string): Promise<void> {
      await database.updateTable("shareItems").set({ pieces }).where("shareId", "=", shareId).where("number", "=", number).execute();
    },

    viewed: (id: string) => add(id, "views"),
    downloaded: (id: string) => add(id, "downloads"),

    /** Whether one more password may be tried. It counts before the password is checked. */
    async takeAttempt(id: string, now: number): Promise<boolean> {
      return database.transaction().execute(async (transaction) => {
        const before = now - ATTEMPTS_MS;
        await transaction
          .updateTable("shares")
          .set({ attempts: 0, attemptsSince: now })
          .where("id", "=", id)
          .where("attemptsSince", "<=", before)
          .execute();
        const done = await transaction
          .updateTable("shares")
          .set((where) => ({ attempts: where("attempts", "+", 1) }))
          .where("id", "=", id)
          .where("attempts", "<", MOST_ATTEMPTS)
          .executeTakeFirst();
        return Number(done.numUpdatedRows) > 0;
      });
    },

    /** Newest first; of one member, or of all. */
    async list(memberId?: string): Promise<ListedShare[]> {
      const rows = await database
        .selectFrom("shares")
        .innerJoin("members", "members.id", "shares.memberId")
        .innerJoin("connections", "connections.id", "shares.connectionId")
        .selectAll("shares")
        .select(["members.name as maker", "members.role as makerRole", "members.disabled", "connections.name as connection"])
        .select(({ selectFrom, fn }) =>
          selectFrom("shareItems").whereRef("shareId", "=", "shares.id").select(fn.countAll<number>().as("count")).as("count"),
        )
        .$if(memberId !== undefined, (query) => query.where("shares.memberId", "=", memberId ?? ""))
        .orderBy("shares.createdAt", "desc")
        .orderBy("shares.id")
        .limit(MOST_LISTED)
        .execute();
      return rows.map((row) => ({
        ...toShare(row),
        maker: row.maker,
        makerRole: row.makerRole,
        isSuspended: row.disabled !== 0,
        connection: row.connection,
        count: Number(row.count),
        revokedAt: row.revokedAt ?? undefined,
        views: Number(row.views),
        downloads: Number(row.downloads),
      }));
    },

    /** Revokes a share of this member, or of any; answers its title. Undefined if there is none that is not revoked yet. */
    async revoke(id: string, { now, memberId }: { now: number; memberId?: string }): Promise<string | undefined> {
      const row = await database
        .updateTable("shares")
        .set({ revokedAt: now })
        .where("id", "=", id)
        .where("revokedAt", "is", null)
        .$if(memberId !== undefined, (query) => query.where("memberId", "=", memberId ?? ""))
        .returning("title")
        .executeTakeFirst();
      return row?.title;
    },
  };
}

function toShare(row: Omit<ShareRow, "views" | "downloads" | "attempts" | "attemptsSince">): Share {
  return {
    id: row.id,
    memberId: row.memberId,
    connectionId: row.connectionId,
    baseUrl: row.baseUrl,
    jobId: row.jobId ?? undefined,
    title: row.title,
    passwordHash: row.passwordHash ?? undefined,
    keepsMetadata: row.keepsMetadata !== 0,
    showsMaker: row.showsMaker !== 0,
    showsWorkflow: row.showsWorkflow !== 0,
    createdAt: row.createdAt,
    expiresAt: row.expiresAt,
  };
}
