// Why a session ended, when a member was last seen, and the address of the member who acted in the audit log.

import "server-only";
import { type Kysely, type Migration, sql } from "kysely";

export const peopleFacts: Migration = {
  async up(database: Kysely<unknown>): Promise<void> {
    const { schema } = database;
    await schema
      .createTable("ended_sessions")
      .addColumn("id", "text", (column) => column.primaryKey())
      .addColumn("cause", "text", (column) => column.notNull())
      .addColumn("at", "bigint", (column) => column.notNull())
      .execute();
    await schema.alterTable("members").addColumn("seen_at", "bigint").execute();
    await sql`UPDATE members SET seen_at = (SELECT max(used_at) FROM sessions WHERE sessions.member_id = members.id)`.execute(database);
    await schema.alterTable("audit").addColumn("member_email", "text").execute();
  },
};
