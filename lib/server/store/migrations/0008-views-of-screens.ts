// Saved views of every list, not only of jobs: each view names its screen, and a member has a default view for each screen.

import "server-only";
import { type Kysely, type Migration, sql } from "kysely";

export const viewsOfScreens: Migration = {
  async up(database: Kysely<unknown>): Promise<void> {
    const { schema } = database;
    await schema
      .alterTable("saved_views")
      .addColumn("screen", "text", (column) => column.notNull().defaultTo("jobs"))
      .execute();
    await schema
      .createTable("opening_views")
      .addColumn("member_id", "text", (column) => column.notNull().references("members.id").onDelete("cascade"))
      .addColumn("screen", "text", (column) => column.notNull())
      .addColumn("view_id", "text", (column) => column.notNull().references("saved_views.id").onDelete("cascade"))
      .addPrimaryKeyConstraint("opening_views_key", ["member_id", "screen"])
      .execute();
    await sql`INSERT INTO opening_views (member_id, screen, view_id) SELECT member_id, 'jobs', view_id FROM default_views`.execute(
      database,
    );
    await schema.dropTable("default_views").execute();
  },
};
