// Which names of workflows have passed the key gate: names stored before it existed have not, and pass it at the next start.

import "server-only";
import { type Kysely, type Migration } from "kysely";

export const maskedNames: Migration = {
  async up(database: Kysely<unknown>): Promise<void> {
    await database.schema
      .alterTable("workflow_names")
      .addColumn("is_masked", "integer", (column) => column.notNull().defaultTo(0))
      .execute();
  },
};
