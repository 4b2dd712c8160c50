// Saved views of lists, of one member or of the team, and the one with which a member's list opens.

import "server-only";
import { type Kysely, type Migration } from "kysely";

export const savedViews: Migration = {
  async up(database: Kysely<unknown>): Promise<void> {
    const { schema } = database;
    await schema
      .createTable("saved_views")
      .addColumn("id", "text", (column) => column.primaryKey())
      .addColumn("member_id", "text", (column) => column.references("members.id").onDelete("cascade"))
      .addColumn("name", "text", (column) => column.notNull())
      .addColumn("query", "text", (column) => column.notNull())
      .addColumn("created_at", "bigint", (column) => column.notNull())
      .execute();
    await schema.createIndex("saved_views_of_member").on("saved_views").column("member_id").execute();
    await schema
      .createTable("default_views")
      .addColumn("member_id", "text", (column) => column.primaryKey().references("members.id").onDelete("cascade"))
      .addColumn("view_id", "text", (column) => column.notNull().references("saved_views.id").onDelete("cascade"))
      .execute();
  },
};
