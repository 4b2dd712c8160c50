// A member's identities at the providers of sign-in, and what ends a session at a provider. A member may have no password ("").

import "server-only";
import { type Kysely, type Migration } from "kysely";

export const identities: Migration = {
  async up(database: Kysely<unknown>): Promise<void> {
    const { schema } = database;
    await schema
      .createTable("identities")
      .addColumn("issuer", "text", (column) => column.notNull())
      .addColumn("subject", "text", (column) => column.notNull())
      .addColumn("provider", "text", (column) => column.notNull())
      // Null: the member was removed, and is not made again.
      .addColumn("member_id", "text", (column) => column.references("members.id").onDelete("set null"))
      .addColumn("created_at", "bigint", (column) => column.notNull())
      .addColumn("used_at", "bigint", (column) => column.notNull())
      .addPrimaryKeyConstraint("identities_key", ["issuer", "subject"])
      .execute();
    await schema.createIndex("identities_of_member").on("identities").column("member_id").execute();
    await schema
      .createTable("provider_sessions")
      .addColumn("session_id", "text", (column) => column.primaryKey().references("sessions.id").onDelete("cascade"))
      .addColumn("provider", "text", (column) => column.notNull())
      .addColumn("sealed_hint", "text")
      .execute();
    await schema.alterTable("members").addColumn("password_reset_at", "bigint").execute();
  },
};
