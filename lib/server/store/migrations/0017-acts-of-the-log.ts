// Joins the entries of the audit log that belong to one act of a person on many things.

import "server-only";
import { type Kysely, type Migration } from "kysely";

export const actsOfTheLog: Migration = {
  async up(database: Kysely<unknown>): Promise<void> {
    await database.schema.alterTable("audit").addColumn("act_id", "text").execute();
    await database.schema.createIndex("audit_of_act").on("audit").columns(["act_id", "id"]).execute();
  },
};
