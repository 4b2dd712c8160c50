// For listing and withdrawing invitations: when they were made and withdrawn. For reading the audit log by member and by act: indexes.

import "server-only";
import { type Kysely, type Migration } from "kysely";

export const invitationsAndLog: Migration = {
  async up(database: Kysely<unknown>): Promise<void> {
    const { schema } = database;
    // For existing rows, the time when they were made is unknown.
    await schema.alterTable("invitations").addColumn("created_at", "bigint").execute();
    await schema.alterTable("invitations").addColumn("withdrawn_at", "bigint").execute();
    await schema.createIndex("audit_of_member").on("audit").columns(["member_id", "id"]).execute();
    await schema.createIndex("audit_of_action").on("audit").columns(["action", "id"]).execute();
  },
};
