// Sessions opened with tickets of host pages, one per slot.

import "server-only";
import { randomUUID } from "node:crypto";
import { z } from "zod";
import { type EmbedAppearance, type EmbedPage, embedPages, embedThemes } from "@/lib/contract/embed/embed-pages";
import { writeExactJson } from "@/lib/contract/json/exact-json";
import { parseJson } from "@/lib/contract/json/parse-json";
import { type Database, prepareQuery } from "../database";
import { hashToken } from "../settings";
import { type Row } from "../tables";

export type EmbedSession = EmbedAppearance &
  Omit<Row<"embedSessions">, "tokenHash" | "pages" | "theme" | "language"> & { pages: readonly EmbedPage[] };
export type NewEmbedSession = Omit<EmbedSession, "id">;

const pagesSchema = z.array(z.enum(embedPages)).catch([]);

export function createEmbedSessionStore(database: Database) {
  const findByToken = prepareQuery(database, database.selectFrom("embedSessions").selectAll().where("tokenHash", "=", ""));
  const findById = prepareQuery(database, database.selectFrom("embedSessions").selectAll().where("id", "=", ""));
  return {
    async begin(token: string, session: NewEmbedSession, now: number): Promise<EmbedSession> {
      const id = randomUUID();
      const row = { ...session, id, tokenHash: hashToken(token), pages: writeExactJson(session.pages) };
      await database.deleteFrom("embedSessions").where("expiresAt", "<=", now).execute();
      await database.insertInto("embedSessions").values(row).execute();
      return { ...session, id };
    },

    async find(token: string): Promise<EmbedSession | undefined> {
      const row = await findByToken(hashToken(token));
      return row && toSession(row);
    },

    async get(id: string): Promise<EmbedSession | undefined> {
      const row = await findById(id);
      return row && toSession(row);
    },

    async setAppearance(id: string, { theme, language }: EmbedAppearance): Promise<void> {
      if (theme === undefined && language === undefined) return;
      await database.updateTable("embedSessions").set({ theme, language }).where("id", "=", id).execute();
    },

    /** Ends this member's session in this frame, and the sessions that it was renewed from. */
    async endFrame({ hostId, slot, memberId }: Pick<EmbedSession, "hostId" | "slot" | "memberId">): Promise<void> {
      const deletion = database.deleteFrom("embedSessions").where("hostId", "=", hostId);
      await deletion.where("slot", "=", slot).where("memberId", "=", memberId).execute();
    },
  };
}

function toSession({ tokenHash: _, pages, theme, ...session }: Row<"embedSessions">): EmbedSession {
  return { ...session, pages: pagesSchema.parse(parseJson(pages)), theme: embedThemes.find((embedTheme) => embedTheme === theme) };
}
