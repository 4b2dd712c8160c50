// What a member chose to download as one file: the choice is sent once, the file is fetched by its id.

import "server-only";
import { type Kysely, type Migration } from "kysely";

export const archives: Migration = {
  async up(database: Kysely<unknown>): Promise<void> {
    await database.schema
      .createTable("archives")
      .addColumn("id", "text", (column) => column.primaryKey())
      .addColumn("member_id", "text", (column) => column.notNull().references("members.id").onDelete("cascade"))
      .addColumn("connection_id", "text", (column) => column.notNull().references("connections.id").onDelete("cascade"))
      .addColumn("choice", "text", (column) => column.notNull())
      .addColumn("created_at", "bigint", (column) => column.notNull())
      .execute();
    await database.schema.createIndex("archives_created_at").on("archives").column("created_at").execute();
  },
};
