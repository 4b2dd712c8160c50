// Which names of workflows have passed the gate for keys: those that were stored before it existed have not, and do so at the next start.

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
