// Host pages that may embed the console, and the sessions opened with their tickets, one per slot. Changing or removing a host ends its
// sessions. Secrets are stored encrypted.

import "server-only";
import { randomBytes, randomUUID } from "node:crypto";
import { z } from "zod";
import { type EmbedAppearance, type EmbedPage, embedPages, embedThemes } from "@/lib/contract/embed/embed-pages";
import { type EmbedHostBody } from "@/lib/contract/embed/embedding";
import { writeExactJson } from "@/lib/contract/json/exact-json";
import { parseJson } from "@/lib/contract/json/parse-json";
import { type Sealed } from "./connections";
import { type Database, hasEffect, prepareQuery } from "./database";
import { hashToken } from "./settings";
import { type Row } from "./tables";

export type EmbedHost = EmbedHostBody & {
  id: string;
  sealed: Sealed | undefined;
  /** The previous secret, valid until `until`. */
  old: { sealed: Sealed; until: number } | undefined;
  /** The admin who last changed it. Undefined if that was before this field existed. */
  keptBy: HostEditor | undefined;
  version: number;
  createdAt: number;
  refused: { at: number; why: string } | undefined;
};
export type HostEditor = { id: string; name: string };
export type HostSecrets = Pick<EmbedHost, "sealed" | "old" | "keptBy">;

const textsSchema = z.array(z.string()).catch([]);
const pagesSchema = z.array(z.enum(embedPages)).catch([]);

export function createEmbedHostId(): string {
  return randomBytes(9).toString("hex");
}

export function createEmbedHostStore(database: Database) {
  const findById = prepareQuery(database, database.selectFrom("embedHosts").selectAll().where("id", "=", ""));
  return {
    async create(id: string, body: EmbedHostBody, secrets: HostSecrets, createdAt: number): Promise<EmbedHost> {
      const row = { id, ...toColumns(body, secrets), version: 1, createdAt };
      return toHost(await database.insertInto("embedHosts").values(row).returningAll().executeTakeFirstOrThrow());
    },

    async get(id: string): Promise<EmbedHost | undefined> {
      const row = await findById(id);
      return row && toHost(row);
    },

    async list(): Promise<EmbedHost[]> {
      return (await database.selectFrom("embedHosts").selectAll().orderBy("createdAt").orderBy("id").execute()).map(toHost);
    },

    /** May also change the secret or the key URL. Ends every session of the host. Returns undefined if `version` is outdated. */
    async change(
      { id, version }: Pick<EmbedHost, "id" | "version">,
      body: EmbedHostBody,
      secrets: HostSecrets,
    ): Promise<EmbedHost | undefined> {
      const row = await database
        .updateTable("embedHosts")
        .set((expression) => ({
          ...toColumns(body, secrets),
          version: expression("version", "+", 1),
          refusedAt: null,
          refusal: null,
        }))
        .where("id", "=", id)
        .where("version", "=", version)
        .returningAll()
        .executeTakeFirst();
      return row && toHost(row);
    },

    async remove(id: string): Promise<boolean> {
      return hasEffect(database.deleteFrom("embedHosts").where("id", "=", id));
    },

    async recordRefusal(id: string, { at, why }: { at: number; why: string }): Promise<void> {
      await database.updateTable("embedHosts").set({ refusedAt: at, refusal: why }).where("id", "=", id).execute();
    },
  };
}

function toColumns({ name, origins, connection, role, pages, guests, jwksUrl }: EmbedHostBody, { sealed, old, keptBy }: HostSecrets) {
  return {
    name,
    origins: writeExactJson(origins),
    connectionId: connection,
    role,
    pages: writeExactJson(pages),
    guests,
    jwksUrl,
    ringKeyId: sealed?.ringKeyId ?? null,
    ciphertext: sealed?.ciphertext ?? null,
    oldRingKeyId: old?.sealed.ringKeyId ?? null,
    oldCiphertext: old?.sealed.ciphertext ?? null,
    oldUntil: old?.until ?? null,
    keptBy: keptBy?.id ?? null,
    keptByName: keptBy?.name ?? null,
  };
}

function toHost(row: Row<"embedHosts">): EmbedHost {
  const { refusedAt: at, refusal, keptBy: editorId } = row;
  const oldSecret = toSealed(row.oldRingKeyId, row.oldCiphertext);
  return {
    id: row.id,
    name: row.name,
    origins: textsSchema.parse(parseJson(row.origins)),
    connection: row.connectionId ?? null,
    role: row.role,
    pages: pagesSchema.parse(parseJson(row.pages)),
    guests: row.guests,
    jwksUrl: row.jwksUrl ?? null,
    sealed: toSealed(row.ringKeyId, row.ciphertext),
    old: oldSecret && { sealed: oldSecret, until: row.oldUntil ?? 0 },
    keptBy: editorId === undefined ? undefined : { id: editorId, name: row.keptByName ?? "" },
    version: row.version,
    createdAt: row.createdAt,
    refused: at !== undefined && refusal !== undefined ? { at, why: refusal } : undefined,
  };
}

function toSealed(ringKeyId: string | undefined, ciphertext: string | undefined): Sealed | undefined {
  return ringKeyId !== undefined && ciphertext !== undefined ? { ringKeyId, ciphertext } : undefined;
}

export type EmbedSession = EmbedAppearance &
  Omit<Row<"embedSessions">, "tokenHash" | "pages" | "theme" | "language"> & { pages: readonly EmbedPage[] };
export type NewEmbedSession = Omit<EmbedSession, "id">;

export function createEmbedSessionStore(database: Database) {
  const findByToken = prepareQuery(database, database.selectFrom("embedSessions").selectAll().where("tokenHash", "=", ""));
  const findById = prepareQuery(database, database.selectFrom("embedSessions").selectAll().where("id", "=", ""));
  return {
    async create(token: string, session: NewEmbedSession, now: number): Promise<EmbedSession> {
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
