// Shares and their items. A share is found by token only while it is open and its creator is not suspended.

import "server-only";
import { z } from "zod";
import { writeExactJson } from "@/lib/contract/json/exact-json";
import { type Role } from "@/lib/contract/members/roles";
import { mediaKinds } from "@/lib/contract/views/outputs-view";
import { type Database, deleteBefore } from "./database";
import { hashToken } from "./settings";
import { type Row } from "./tables";

const RETENTION_MS = 90 * 24 * 60 * 60_000;
const MAX_LISTED = 500;

const fileSchema = z.object({ filename: z.string(), subfolder: z.string(), type: z.string() });
const itemSchema = z.object({
  /** Location of the item at the service. Exactly one of these is set. */
  asset: z.string().optional(),
  file: fileSchema.optional(),
  text: z.string().optional(),
  name: z.string(),
  kind: z.enum(mediaKinds).exclude(["json"]),
  mimeType: z.string().optional(),
  size: z.number().optional(),
  hash: z.string().optional(),
  /** The service names the file by content, so it cannot change. Otherwise `validator` identifies the shared content. */
  isFixed: z.boolean(),
  validator: z.string().optional(),
  width: z.number().optional(),
  height: z.number().optional(),
});
export type ShareItem = z.infer<typeof itemSchema>;

export type Share = Row<"shares">;
type NewShare = Omit<Share, "tokenHash" | "revokedAt" | "views" | "downloads"> & {
  token: string;
  items: readonly ShareItem[];
};
export type ListedShare = Share & { maker: string; makerRole: Role; isSuspended: boolean; connection: string; count: number };

export function createShareStore(database: Database) {
  const selectOpen = (now: number) =>
    database
      .selectFrom("shares")
      .innerJoin("members", "members.id", "shares.memberId")
      .where("members.disabled", "=", false)
      .where("revokedAt", "is", null)
      .where("expiresAt", ">", now);
  const incrementCounter = async (id: string, column: "views" | "downloads") => {
    await database
      .updateTable("shares")
      .set((where) => ({ [column]: where(column, "+", 1) }))
      .where("id", "=", id)
      .execute();
  };

  return {
    async create({ token, items, ...share }: NewShare): Promise<void> {
      await database.transaction().execute(async (transaction) => {
        await deleteBefore(transaction, "shares", "expiresAt", share.createdAt - RETENTION_MS);
        await transaction
          .insertInto("shares")
          .values({ ...share, tokenHash: hashToken(token) })
          .execute();
        const rows = items.map((item, index) => ({ shareId: share.id, number: index + 1, item: writeExactJson(item) }));
        if (rows.length > 0) await transaction.insertInto("shareItems").values(rows).execute();
      });
    },

    async findByToken(token: string, now: number): Promise<Share | undefined> {
      return selectOpen(now).selectAll("shares").where("tokenHash", "=", hashToken(token)).executeTakeFirst();
    },

    async isOpen(id: string, now: number): Promise<boolean> {
      return (await selectOpen(now).select("shares.id").where("shares.id", "=", id).executeTakeFirst()) !== undefined;
    },

    async listItems(shareId: string): Promise<{ number: number; item: ShareItem }[]> {
      const rows = await database
        .selectFrom("shareItems")
        .select(["number", "item"])
        .where("shareId", "=", shareId)
        .orderBy("number")
        .execute();
      return rows.map(({ number, item }) => ({ number, item: itemSchema.parse(JSON.parse(item)) }));
    },

    async findItem(shareId: string, number: number): Promise<{ item: ShareItem; pieces: string | undefined } | undefined> {
      const row = await database
        .selectFrom("shareItems")
        .select(["item", "pieces"])
        .where("shareId", "=", shareId)
        .where("number", "=", number)
        .executeTakeFirst();
      return row && { item: itemSchema.parse(JSON.parse(row.item)), pieces: row.pieces };
    },

    async savePieces(shareId: string, number: number, pieces: string): Promise<void> {
      await database.updateTable("shareItems").set({ pieces }).where("shareId", "=", shareId).where("number", "=", number).execute();
    },

    recordView: (id: string) => incrementCounter(id, "views"),
    recordDownload: (id: string) => incrementCounter(id, "downloads"),

    async list(memberId?: string): Promise<ListedShare[]> {
      const rows = await database
        .selectFrom("shares")
        .innerJoin("members", "members.id", "shares.memberId")
        .innerJoin("connections", "connections.id", "shares.connectionId")
        .selectAll("shares")
        .select(["members.name as maker", "members.role as makerRole", "members.disabled as isSuspended", "connections.name as connection"])
        .select(({ selectFrom, fn }) =>
          selectFrom("shareItems").whereRef("shareId", "=", "shares.id").select(fn.countAll<number>().as("count")).as("count"),
        )
        .$if(memberId !== undefined, (query) => query.where("shares.memberId", "=", memberId ?? ""))
        .orderBy("shares.createdAt", "desc")
        .orderBy("shares.id")
        .limit(MAX_LISTED)
        .execute();
      return rows.map((row) => ({ ...row, count: row.count ?? 0 }));
    },

    /** Revokes a share of this member, or of any member, and returns its title. Undefined if no such share is open. */
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
