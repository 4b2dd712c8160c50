// Members, connections, their encrypted keys and workflow names, the set-up token, invitations, the audit log.

import "server-only";
import { type Kysely, type Migration } from "kysely";

export const firstTables: Migration = {
  async up(database: Kysely<unknown>): Promise<void> {
    const { schema } = database;
    await schema
      .createTable("members")
      .addColumn("id", "text", (column) => column.primaryKey())
      .addColumn("name", "text", (column) => column.notNull())
      .addColumn("email", "text", (column) => column.notNull().unique())
      .addColumn("role", "text", (column) => column.notNull())
      .addColumn("password_hash", "text", (column) => column.notNull())
      .addColumn("disabled", "integer", (column) => column.notNull().defaultTo(0))
      .addColumn("session_version", "integer", (column) => column.notNull().defaultTo(1))
      .addColumn("last_connection_id", "text")
      .addColumn("created_at", "bigint", (column) => column.notNull())
      .execute();
    await schema
      .createTable("connections")
      .addColumn("id", "text", (column) => column.primaryKey())
      .addColumn("name", "text", (column) => column.notNull())
      .addColumn("base_url", "text", (column) => column.notNull())
      .addColumn("account_url", "text")
      .addColumn("member_id", "text", (column) => column.references("members.id").onDelete("cascade"))
      .addColumn("status", "text", (column) => column.notNull().defaultTo("unknown"))
      .addColumn("created_at", "bigint", (column) => column.notNull())
      .execute();
    await schema.createIndex("connections_of_member").on("connections").column("member_id").execute();
    await schema
      .createTable("api_keys")
      .addColumn("id", "text", (column) => column.primaryKey())
      .addColumn("connection_id", "text", (column) => column.notNull().unique().references("connections.id").onDelete("cascade"))
      .addColumn("ring_key_id", "text", (column) => column.notNull())
      .addColumn("ciphertext", "text", (column) => column.notNull())
      .addColumn("fingerprint", "text", (column) => column.notNull())
      .addColumn("created_at", "bigint", (column) => column.notNull())
      .execute();
    await schema
      .createTable("workflow_names")
      .addColumn("connection_id", "text", (column) => column.notNull().references("connections.id").onDelete("cascade"))
      .addColumn("workflow_id", "text", (column) => column.notNull())
      .addColumn("name", "text", (column) => column.notNull())
      .addPrimaryKeyConstraint("workflow_names_key", ["connection_id", "workflow_id"])
      .execute();
    await schema
      .createTable("set_up_tokens")
      .addColumn("token_hash", "text", (column) => column.primaryKey())
      .addColumn("created_at", "bigint", (column) => column.notNull())
      .execute();
    await schema
      .createTable("invitations")
      .addColumn("id", "text", (column) => column.primaryKey())
      .addColumn("token_hash", "text", (column) => column.notNull().unique())
      .addColumn("email", "text", (column) => column.notNull())
      .addColumn("role", "text", (column) => column.notNull())
      .addColumn("invited_by", "text", (column) => column.notNull())
      .addColumn("expires_at", "bigint", (column) => column.notNull())
      .addColumn("accepted_at", "bigint")
      .execute();
    await schema
      .createTable("audit")
      .addColumn("id", "integer", (column) => column.primaryKey().autoIncrement())
      .addColumn("at", "bigint", (column) => column.notNull())
      .addColumn("request_id", "text", (column) => column.notNull())
      .addColumn("member_id", "text")
      .addColumn("member_name", "text")
      .addColumn("action", "text", (column) => column.notNull())
      .addColumn("connection_id", "text")
      .addColumn("target", "text")
      .addColumn("status", "integer", (column) => column.notNull())
      .addColumn("code", "text")
      .addColumn("outcome", "text")
      .execute();
  },
};
