// The team's settings for the whole console, as JSON under a name.

import "server-only";
import { type Kysely, type Migration } from "kysely";

export const settings: Migration = {
  async up(database: Kysely<unknown>): Promise<void> {
    await database.schema
      .createTable("settings")
      .addColumn("name", "text", (column) => column.primaryKey())
      .addColumn("value", "text", (column) => column.notNull())
      .execute();
  },
};
