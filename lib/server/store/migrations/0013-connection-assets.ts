// Whether a connection's service keeps assets: a plain local server may have been started without them.

import "server-only";
import { type Kysely, type Migration } from "kysely";

export const connectionAssets: Migration = {
  async up(database: Kysely<unknown>): Promise<void> {
    await database.schema
      .alterTable("connections")
      .addColumn("has_assets", "integer", (column) => column.notNull().defaultTo(1))
      .execute();
  },
};
