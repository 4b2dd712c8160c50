// Each row of the audit log holds a hash of itself and of the row before it, so a changed or removed row is found. A one-time link may give
// a member a new password.

import "server-only";
import { type Kysely, type Migration } from "kysely";
import { chainAll } from "../audit/audit-chain";

export const chainedLog: Migration = {
  async up(database: Kysely<unknown>): Promise<void> {
    await database.schema
      .alterTable("audit")
      .addColumn("hash", "text", (column) => column.notNull().defaultTo(""))
      .execute();
    await chainAll(database);
    await database.schema
      .alterTable("invitations")
      .addColumn("resets_member_id", "text", (column) => column.references("members.id").onDelete("cascade"))
      .execute();
  },
};
