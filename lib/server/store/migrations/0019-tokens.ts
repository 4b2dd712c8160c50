// Personal access tokens, and in the audit log the credential with which an act was done.

import "server-only";
import { type Kysely, type Migration } from "kysely";

export const tokens: Migration = {
  async up(database: Kysely<unknown>): Promise<void> {
    const { schema } = database;
    await schema
      .createTable("tokens")
      .addColumn("id", "text", (column) => column.primaryKey())
      .addColumn("member_id", "text", (column) => column.notNull().references("members.id").onDelete("cascade"))
      .addColumn("token_hash", "text", (column) => column.notNull().unique())
      .addColumn("name", "text", (column) => column.notNull())
      .addColumn("role", "text", (column) => column.notNull())
      .addColumn("connection_id", "text", (column) => column.notNull())
      .addColumn("connections", "text")
      .addColumn("operations", "text", (column) => column.notNull())
      .addColumn("created_at", "bigint", (column) => column.notNull())
      .addColumn("expires_at", "bigint")
      .addColumn("last_used_at", "bigint")
      .addColumn("revoked_at", "bigint")
      .execute();
    await schema.createIndex("tokens_of_member").on("tokens").column("member_id").execute();
    await schema.alterTable("audit").addColumn("via", "text").execute();
  },
};
