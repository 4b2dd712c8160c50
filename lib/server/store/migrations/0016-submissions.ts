// The table of submissions gets its name.

import "server-only";
import { type Kysely, type Migration } from "kysely";

export const submissions: Migration = {
  async up(database: Kysely<unknown>): Promise<void> {
    await database.schema.dropIndex("presses_created_at").execute();
    await database.schema.alterTable("presses").renameTo("submissions").execute();
    await database.schema.alterTable("submissions").renameColumn("press_key", "idempotency_key").execute();
    await database.schema.createIndex("submissions_created_at").on("submissions").column("created_at").execute();
  },
};
