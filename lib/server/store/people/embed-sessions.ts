// Sessions that were opened by tickets of host pages.
// Guarantees: found by token or id until they expire; a person may have several, one for each slot of a host page.
// Must never: store a token in plain text.

import "server-only";
import { randomUUID } from "node:crypto";
import { z } from "zod";
import { type EmbedLook, type EmbedPage, embedPages, embedThemes } from "@/lib/contract/embed/embed-pages";
import { type EmbedRole } from "@/lib/contract/embed/embedding";
import { writeExactJson } from "@/lib/contract/json/exact-json";
import { parseJson } from "@/lib/contract/json/parse-json";
import { type Database, prepareOne } from "../database";
import { hashToken } from "../settings";
import { type EmbedSessionRow } from "./people-rows";

export type NewEmbedSession = EmbedLook & {
  hostId: string;
  hostVersion: number;
  slot: string;
  origin: string;
  memberId: string;
  memberVersion: number;
  role: EmbedRole;
  connectionId: string | undefined;
  pages: readonly EmbedPage[];
  expiresAt: number;
};
export type EmbedSession = NewEmbedSession & { id: string };
export type EmbedSessionStore = ReturnType<typeof createEmbedSessionStore>;

const pagesSchema = z.array(z.enum(embedPages)).catch([]);
const roleSchema: z.ZodType<EmbedRole> = z.enum(["runner", "viewer", "operator", "admin"]).catch("runner");

export function createEmbedSessionStore(database: Database) {
  const byToken = prepareOne(database, database.selectFrom("embedSessions").selectAll().where("tokenHash", "=", ""));
  const byId = prepareOne(database, database.selectFrom("embedSessions").selectAll().where("id", "=", ""));
  return {
    async begin(token: string, session: NewEmbedSession, now: number): Promise<EmbedSession> {
      const row = toRow(token, session);
      await database.deleteFrom("embedSessions").where("expiresAt", "<=", now).execute();
      await database.insertInto("embedSessions").values(row).execute();
      return toSession(row);
    },

    async find(token: string): Promise<EmbedSession | undefined> {
      const row = await byToken(hashToken(token));
      return row && toSession(row);
    },

    async get(id: string): Promise<EmbedSession | undefined> {
      const row = await byId(id);
      return row && toSession(row);
    },

    async setLook(id: string, { theme, language }: EmbedLook): Promise<void> {
      const change = { ...(theme !== undefined && { theme }), ...(language !== undefined && { language }) };
      if (Object.keys(change).length === 0) return;
      await database.updateTable("embedSessions").set(change).where("id", "=", id).execute();
    },

    /** Ends this person's session in this frame, and those that it was renewed from. */
    async endFrame({ hostId, slot, memberId }: Pick<EmbedSession, "hostId" | "slot" | "memberId">): Promise<void> {
      const ofHost = database.deleteFrom("embedSessions").where("hostId", "=", hostId);
      await ofHost.where("slot", "=", slot).where("memberId", "=", memberId).execute();
    },
  };
}

function toRow(token: string, session: NewEmbedSession): EmbedSessionRow {
  return {
    id: randomUUID(),
    tokenHash: hashToken(token),
    hostId: session.hostId,
    hostVersion: session.hostVersion,
    slot: session.slot,
    origin: session.origin,
    memberId: session.memberId,
    memberVersion: session.memberVersion,
    role: session.role,
    connectionId: session.connectionId ?? null,
    pages: writeExactJson(session.pages),
    theme: session.theme ?? null,
    language: session.language ?? null,
    expiresAt: session.expiresAt,
  };
}

function toSession(row: EmbedSessionRow): EmbedSession {
  return {
    id: row.id,
    hostId: row.hostId,
    hostVersion: row.hostVersion,
    slot: row.slot,
    origin: row.origin,
    memberId: row.memberId,
    memberVersion: row.memberVersion,
    role: roleSchema.parse(row.role),
    connectionId: row.connectionId ?? undefined,
    pages: pagesSchema.parse(parseJson(row.pages)),
    theme: embedThemes.find((theme) => theme === row.theme),
    language: row.language ?? undefined,
    expiresAt: row.expiresAt,
  };
}
