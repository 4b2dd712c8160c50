// The console's label of a job beside its workflow's name, which distinguishes the copies of one run at any service.

import "server-only";
import { type Kysely, type Migration } from "kysely";

export const jobLabels: Migration = {
  async up(database: Kysely<unknown>): Promise<void> {
    await database.schema
      .createTable("job_labels")
      .addColumn("connection_id", "text", (column) => column.notNull().references("connections.id").onDelete("cascade"))
      .addColumn("job_id", "text", (column) => column.notNull())
      .addColumn("label", "text", (column) => column.notNull())
      .addColumn("created_at", "bigint", (column) => column.notNull())
      .addPrimaryKeyConstraint("job_labels_key", ["connection_id", "job_id"])
      .execute();
    await database.schema.createIndex("job_labels_created_at").on("job_labels").column("created_at").execute();
  },
};
