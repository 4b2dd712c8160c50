// Who submitted a job is looked up in the audit log, by the job.

import "server-only";
import { type Kysely, type Migration } from "kysely";

export const logByTarget: Migration = {
  async up(database: Kysely<unknown>): Promise<void> {
    await database.schema.createIndex("audit_of_target").on("audit").columns(["target", "action"]).execute();
  },
};
