// Rights to see other members' jobs, and what members have used.
// `job_viewers`: who sees the jobs of a member's own connection. `shown_files`: outputs already shown to them, which they may fetch.
// `job_usage`: one row for each job submitted through the console; it stays when the service, or the ledger, no longer has the job.

import "server-only";
import { type Kysely, type Migration, sql } from "kysely";

const LEDGER_MS = "((ledger_jobs.key >> 5) & 4398046511103)";

const knownFromTheLedger = `
  INSERT INTO job_usage (connection_id, job_id, member_id, at, word, run_ms, outputs, bytes, is_sized)
  SELECT connection_id, job_id, member_id, ${LEDGER_MS}, json_extract(item, '$.status'), run_ms, json_extract(item, '$.outputs_count'),
    CASE json_extract(item, '$.outputs_count') WHEN 0 THEN 0 END, CASE WHEN json_extract(item, '$.outputs_count') > 0 THEN 0 ELSE 1 END
  FROM ledger_jobs JOIN ledger_connections USING (number) WHERE member_id IS NOT NULL AND ${LEDGER_MS} > 0`;
const knownFromTheLog = `
  INSERT INTO job_usage (connection_id, job_id, member_id, at, word, is_sized)
  SELECT connection_id, target, member_id, at, 'unknown', 1 FROM audit
  WHERE action = 'submitPrompt' AND status < 300 AND target IS NOT NULL AND connection_id IS NOT NULL AND member_id IS NOT NULL
  ON CONFLICT DO NOTHING`;

export const team: Migration = {
  async up(database: Kysely<unknown>): Promise<void> {
    const { schema } = database;
    await schema
      .createTable("job_viewers")
      .addColumn("connection_id", "text", (column) => column.notNull().references("connections.id").onDelete("cascade"))
      .addColumn("member_id", "text", (column) => column.notNull().references("members.id").onDelete("cascade"))
      .addColumn("given_by", "text", (column) => column.notNull())
      .addColumn("given_at", "bigint", (column) => column.notNull())
      .addPrimaryKeyConstraint("job_viewers_key", ["connection_id", "member_id"])
      .execute();
    await schema.createIndex("job_viewers_of_member").on("job_viewers").column("member_id").execute();
    await schema
      .createTable("shown_files")
      .addColumn("connection_id", "text", (column) => column.notNull().references("connections.id").onDelete("cascade"))
      .addColumn("file_hash", "text", (column) => column.notNull())
      .addColumn("at", "bigint", (column) => column.notNull())
      .addPrimaryKeyConstraint("shown_files_key", ["connection_id", "file_hash"])
      .execute();
    await schema.createIndex("shown_files_at").on("shown_files").column("at").execute();
    await schema
      .createTable("job_usage")
      .addColumn("connection_id", "text", (column) => column.notNull())
      .addColumn("job_id", "text", (column) => column.notNull())
      .addColumn("member_id", "text", (column) => column.notNull())
      .addColumn("at", "bigint", (column) => column.notNull())
      .addColumn("word", "text", (column) => column.notNull())
      .addColumn("run_ms", "bigint")
      .addColumn("outputs", "bigint")
      .addColumn("bytes", "bigint")
      .addColumn("is_sized", "integer", (column) => column.notNull().defaultTo(0))
      .addPrimaryKeyConstraint("job_usage_key", ["connection_id", "job_id"])
      .execute();
    await schema
      .createIndex("job_usage_by_time")
      .on("job_usage")
      .columns(["at", "member_id", "connection_id", "word", "run_ms", "outputs", "bytes", "is_sized"])
      .execute();
    await schema.createIndex("job_usage_unsized").on("job_usage").columns(["connection_id", "is_sized", "at"]).execute();
    await sql.raw(knownFromTheLedger).execute(database);
    await sql.raw(knownFromTheLog).execute(database);
  },
};
