// For finding the submitter of a job in the audit log: an index by target.

import "server-only";
import { type Kysely, type Migration } from "kysely";

export const logByTarget: Migration = {
  async up(database: Kysely<unknown>): Promise<void> {
    await database.schema.createIndex("audit_of_target").on("audit").columns(["target", "action"]).execute();
  },
};
