// Invitations can be listed and withdrawn: when they were made, and when they were taken back. The audit log can be read by member and by act.

import "server-only";
import { type Kysely, type Migration } from "kysely";

export const invitationsAndLog: Migration = {
  async up(database: Kysely<unknown>): Promise<void> {
    const { schema } = database;
    // When those that are there already were made is not known any more.
    await schema.alterTable("invitations").addColumn("created_at", "bigint").execute();
    await schema.alterTable("invitations").addColumn("withdrawn_at", "bigint").execute();
    await schema.createIndex("audit_of_member").on("audit").columns(["member_id", "id"]).execute();
    await schema.createIndex("audit_of_action").on("audit").columns(["action", "id"]).execute();
  },
};
