// Host pages that may show the console, the tickets they used, and the sessions opened by these. A host's guest is a row among the members
// that can sign in no other way.

import "server-only";
import { type Kysely, type Migration } from "kysely";

export const embedding: Migration = {
  async up(database: Kysely<unknown>): Promise<void> {
    const { schema } = database;
    await schema
      .createTable("embed_hosts")
      .addColumn("id", "text", (column) => column.primaryKey())
      .addColumn("name", "text", (column) => column.notNull())
      .addColumn("origins", "text", (column) => column.notNull())
      .addColumn("connection_id", "text", (column) => column.references("connections.id").onDelete("cascade"))
      .addColumn("role", "text", (column) => column.notNull())
      .addColumn("pages", "text", (column) => column.notNull())
      .addColumn("guests", "integer", (column) => column.notNull())
      .addColumn("jwks_url", "text")
      .addColumn("ring_key_id", "text")
      .addColumn("ciphertext", "text")
      .addColumn("version", "integer", (column) => column.notNull())
      .addColumn("created_at", "bigint", (column) => column.notNull())
      .addColumn("refused_at", "bigint")
      .addColumn("refusal", "text")
      .execute();
    await schema
      .createTable("embed_tickets")
      .addColumn("host_id", "text", (column) => column.notNull().references("embed_hosts.id").onDelete("cascade"))
      .addColumn("ticket_hash", "text", (column) => column.notNull())
      .addColumn("expires_at", "bigint", (column) => column.notNull())
      .addPrimaryKeyConstraint("embed_tickets_key", ["host_id", "ticket_hash"])
      .execute();
    await schema
      .createTable("embed_sessions")
      .addColumn("id", "text", (column) => column.primaryKey())
      .addColumn("token_hash", "text", (column) => column.notNull().unique())
      .addColumn("host_id", "text", (column) => column.notNull().references("embed_hosts.id").onDelete("cascade"))
      .addColumn("host_version", "integer", (column) => column.notNull())
      .addColumn("slot", "text", (column) => column.notNull())
      .addColumn("origin", "text", (column) => column.notNull())
      .addColumn("member_id", "text", (column) => column.notNull().references("members.id").onDelete("cascade"))
      .addColumn("member_version", "integer", (column) => column.notNull())
      .addColumn("role", "text", (column) => column.notNull())
      .addColumn("connection_id", "text", (column) => column.references("connections.id").onDelete("cascade"))
      .addColumn("pages", "text", (column) => column.notNull())
      .addColumn("theme", "text")
      .addColumn("language", "text")
      .addColumn("expires_at", "bigint", (column) => column.notNull())
      .execute();
    await schema.createIndex("embed_sessions_expires_at").on("embed_sessions").column("expires_at").execute();
    await schema.alterTable("members").addColumn("guest_of", "text").execute();
  },
};
