// Presses of Run, so that the same press again is answered with the job it made, without starting a second one.

import "server-only";
import { type Kysely, type Migration } from "kysely";

export const presses: Migration = {
  async up(database: Kysely<unknown>): Promise<void> {
    await database.schema
      .createTable("presses")
      .addColumn("member_id", "text", (column) => column.notNull().references("members.id").onDelete("cascade"))
      .addColumn("press_key", "text", (column) => column.notNull())
      .addColumn("content_hash", "text", (column) => column.notNull())
      .addColumn("answer", "text")
      .addColumn("failure_code", "text")
      .addColumn("failure_message", "text")
      .addColumn("created_at", "bigint", (column) => column.notNull())
      .addPrimaryKeyConstraint("presses_key", ["member_id", "press_key"])
      .execute();
    await database.schema.createIndex("presses_created_at").on("presses").column("created_at").execute();
  },
};
