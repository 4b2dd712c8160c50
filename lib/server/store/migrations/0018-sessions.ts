// Sessions, one row for each sign-in. Members with older sessions have to sign in again. Replaces the list of ended sessions.

import "server-only";
import { type Kysely, type Migration } from "kysely";

export const sessions: Migration = {
  async up(database: Kysely<unknown>): Promise<void> {
    const { schema } = database;
    await schema
      .createTable("sessions")
      .addColumn("id", "text", (column) => column.primaryKey())
      .addColumn("member_id", "text", (column) => column.notNull().references("members.id").onDelete("cascade"))
      .addColumn("version", "integer", (column) => column.notNull())
      .addColumn("method", "text", (column) => column.notNull())
      .addColumn("browser", "text", (column) => column.notNull())
      .addColumn("address", "text", (column) => column.notNull())
      .addColumn("created_at", "bigint", (column) => column.notNull())
      .addColumn("used_at", "bigint", (column) => column.notNull())
      .addColumn("confirmed_at", "bigint", (column) => column.notNull())
      .execute();
    await schema.createIndex("sessions_of_member").on("sessions").columns(["member_id", "used_at"]).execute();
    await schema.dropTable("ended_sessions").execute();
  },
};
