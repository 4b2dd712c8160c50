// Links for people without an account: each shows a list that is fixed when it is made. A share is deleted with its member or connection.

import "server-only";
import { type Kysely, type Migration } from "kysely";

export const shares: Migration = {
  async up(database: Kysely<unknown>): Promise<void> {
    const { schema } = database;
    await schema
      .createTable("shares")
      .addColumn("id", "text", (column) => column.primaryKey())
      .addColumn("token_hash", "text", (column) => column.notNull().unique())
      .addColumn("member_id", "text", (column) => column.notNull().references("members.id").onDelete("cascade"))
      .addColumn("connection_id", "text", (column) => column.notNull().references("connections.id").onDelete("cascade"))
      .addColumn("base_url", "text", (column) => column.notNull())
      .addColumn("job_id", "text")
      .addColumn("title", "text", (column) => column.notNull())
      .addColumn("password_hash", "text")
      .addColumn("keeps_metadata", "integer", (column) => column.notNull())
      .addColumn("shows_maker", "integer", (column) => column.notNull())
      .addColumn("shows_workflow", "integer", (column) => column.notNull())
      .addColumn("created_at", "bigint", (column) => column.notNull())
      .addColumn("expires_at", "bigint", (column) => column.notNull())
      .addColumn("revoked_at", "bigint")
      .addColumn("views", "integer", (column) => column.notNull().defaultTo(0))
      .addColumn("downloads", "integer", (column) => column.notNull().defaultTo(0))
      .addColumn("attempts", "integer", (column) => column.notNull().defaultTo(0))
      .addColumn("attempts_since", "bigint", (column) => column.notNull().defaultTo(0))
      .execute();
    await schema.createIndex("shares_of_member").on("shares").columns(["member_id", "created_at"]).execute();
    await schema
      .createTable("share_items")
      .addColumn("share_id", "text", (column) => column.notNull().references("shares.id").onDelete("cascade"))
      .addColumn("number", "integer", (column) => column.notNull())
      .addColumn("item", "text", (column) => column.notNull())
      .addColumn("pieces", "text")
      .addPrimaryKeyConstraint("share_items_key", ["share_id", "number"])
      .execute();
  },
};
