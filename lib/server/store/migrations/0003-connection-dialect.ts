// The dialect of a connection's service: the interface's, or that of a plain local server.

import "server-only";
import { type Kysely, type Migration } from "kysely";

export const connectionDialect: Migration = {
  async up(database: Kysely<unknown>): Promise<void> {
    await database.schema
      .alterTable("connections")
      .addColumn("dialect", "text", (column) => column.notNull().defaultTo("interface"))
      .execute();
  },
};
