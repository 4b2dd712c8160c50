// Sessions that were signed out before they expired.

import "server-only";
import { type Kysely, type Migration } from "kysely";

export const endedSessions: Migration = {
  async up(database: Kysely<unknown>): Promise<void> {
    await database.schema
      .createTable("ended_sessions")
      .addColumn("id", "text", (column) => column.primaryKey())
      .addColumn("expires_at", "bigint", (column) => column.notNull())
      .execute();
  },
};
