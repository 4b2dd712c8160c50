// Host pages that may show the console: where they are, how far their tickets reach, and what their tickets are checked with.
// Guarantees: a change ends every session of the host, and so does its removal; a ticket's id is taken once, whoever asks at the same time.
// Must never: hold a secret in the clear.

import "server-only";
import { randomBytes } from "node:crypto";
import { z } from "zod";
import { embedPages } from "@/lib/contract/embed-pages";
import { type EmbedHostBody, type EmbedRole } from "@/lib/contract/embedding";
import { writeExactJson } from "@/lib/contract/json/exact-json";
import { parseJson } from "@/lib/contract/json/json";
import { type Database, prepareOne } from "./database";
import { type Sealed } from "./keys";
import { hashToken } from "./set-up-token";
import { type EmbedHostRow } from "./tables";

export type EmbedHost = EmbedHostBody & {
  id: string;
  sealed: Sealed | undefined;
  version: number;
  createdAt: number;
  refused: { at: number; why: string } | undefined;
};
export type EmbedHostStore = ReturnType<typeof createEmbedHostStore>;

const textsSchema = z.array(z.string()).catch([]);
const pagesSchema = z.array(z.enum(embedPages)).catch([]);
/** An unknown word in the table gives the weakest role, never a stronger one. */
const roleSchema: z.ZodType<EmbedRole> = z.enum(["runner", "viewer", "operator", "admin"]).catch("runner");

export function newEmbedHostId(): string {
  return randomBytes(9).toString("hex");
}

export function createEmbedHostStore(database: Database) {
  const byId = prepareOne(database, database.selectFrom("embed_hosts").selectAll().where("id", "=", ""));
  return {
    async create(id: string, body: EmbedHostBody, sealed: Sealed | undefined, createdAt: number): Promise<EmbedHost> {
      const row = { id, ...toColumns(body, sealed), version: 1, created_at: createdAt, refused_at: null, refusal: null };
      await database.insertInto("embed_hosts").values(row).execute();
      return toHost(row);
    },

    async get(id: string): Promise<EmbedHost | undefined> {
      const row = await byId(id);
      return row && toHost(row);
    },

    async list(): Promise<EmbedHost[]> {
      return (await database.selectFrom("embed_hosts").selectAll().orderBy("created_at").orderBy("id").execute()).map(toHost);
    },

    /** What its key is checked with may change too; every session ends. */
    async change(id: string, body: EmbedHostBody, sealed: Sealed | undefined): Promise<EmbedHost | undefined> {
      const row = await database
        .updateTable("embed_hosts")
        .set((expression) => ({
          ...toColumns(body, sealed),
          version: expression("version", "+", 1),
          refused_at: null,
          refusal: null,
        }))
        .where("id", "=", id)
        .returningAll()
        .executeTakeFirst();
      return row && toHost(row);
    },

    async remove(id: string): Promise<boolean> {
      const done = await database.deleteFrom("embed_hosts").where("id", "=", id).executeTakeFirst();
      return Number(done.numDeletedRows) > 0;
    },

    async noteRefusal(id: string, { at, why }: { at: number; why: string }): Promise<void> {
      await database.updateTable("embed_hosts").set({ refused_at: at, refusal: why }).where("id", "=", id).execute();
    },

    /** False where this ticket was taken before. */
    async takeTicket(hostId: string, ticketId: string, { now, expiresAt }: { now: number; expiresAt: number }): Promise<boolean> {
      await database.deleteFrom("embed_tickets").where("expires_at", "<", now).execute();
      const done = await database
        .insertInto("embed_tickets")
        .values({ host_id: hostId, ticket_hash: hashToken(ticketId), expires_at: expiresAt })
        .onConflict((conflict) => conflict.columns(["host_id", "ticket_hash"]).doNothing())
        .executeTakeFirst();
      return Number(done.numInsertedOrUpdatedRows ?? 0) > 0;
    },

    /** Only where the secret was not made anew meanwhile; tells whether it did. */
    async reseal(host: EmbedHost, after: Sealed): Promise<boolean> {
      const done = await database
        .updateTable("embed_hosts")
        .set({ ring_key_id: after.ringKeyId, ciphertext: after.ciphertext })
        .where("id", "=", host.id)
        .where("ciphertext", "=", host.sealed?.ciphertext ?? "")
        .executeTakeFirst();
      return Number(done.numUpdatedRows) > 0;
    },
  };
}

function toColumns({ name, origins, connection, role, pages, guests, jwksUrl }: EmbedHostBody, sealed: Sealed | undefined) {
  return {
    name,
    origins: writeExactJson(origins),
    connection_id: connection,
    role,
    pages: writeExactJson(pages),
    guests: guests ? 1 : 0,
    jwks_url: jwksUrl,
    ring_key_id: sealed?.ringKeyId ?? null,
    ciphertext: sealed?.ciphertext ?? null,
  };
}

function toHost(row: EmbedHostRow): EmbedHost {
  const { ring_key_id: ringKeyId, ciphertext, refused_at: at, refusal: why } = row;
  return {
    id: row.id,
    name: row.name,
    origins: textsSchema.parse(parseJson(row.origins)),
    connection: row.connection_id,
    role: roleSchema.parse(row.role),
    pages: pagesSchema.parse(parseJson(row.pages)),
    guests: row.guests !== 0,
    jwksUrl: row.jwks_url,
    sealed: ringKeyId !== null && ciphertext !== null ? { ringKeyId, ciphertext } : undefined,
    version: Number(row.version),
    createdAt: Number(row.created_at),
    refused: at !== null && why !== null ? { at: Number(at), why } : undefined,
  };
}
