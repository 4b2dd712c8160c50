// Which job a submission reruns, and the token that submitted it.

import "server-only";
import { type Kysely, type Migration } from "kysely";

const usage = ["at", "member_id", "connection_id", "word", "run_ms", "outputs", "bytes", "is_sized"];

export const reruns: Migration = {
  async up({ schema }: Kysely<unknown>): Promise<void> {
    await schema.alterTable("job_labels").addColumn("rerun_of", "text").execute();
    await schema.createIndex("job_labels_of_origin").on("job_labels").columns(["connection_id", "rerun_of"]).execute();
    await schema.alterTable("job_usage").addColumn("token", "text").execute();
    await schema.dropIndex("job_usage_by_time").execute();
    await schema
      .createIndex("job_usage_by_time")
      .on("job_usage")
      .columns([...usage, "token"])
      .execute();
  },
};
