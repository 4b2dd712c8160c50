// Downloads that services carry out in the background, so that they stay visible after a reload and in another browser.

import "server-only";
import { type Kysely, type Migration } from "kysely";

export const downloadTasks: Migration = {
  async up(database: Kysely<unknown>): Promise<void> {
    const { schema } = database;
    await schema
      .createTable("download_tasks")
      .addColumn("id", "text", (column) => column.primaryKey())
      .addColumn("connection_id", "text", (column) => column.notNull().references("connections.id").onDelete("cascade"))
      .addColumn("member_id", "text", (column) => column.references("members.id").onDelete("set null"))
      .addColumn("task_id", "text", (column) => column.notNull())
      .addColumn("source", "text", (column) => column.notNull())
      .addColumn("ring_key_id", "text", (column) => column.notNull())
      .addColumn("sealed_request", "text", (column) => column.notNull())
      .addColumn("state", "text", (column) => column.notNull())
      .addColumn("word", "text", (column) => column.notNull())
      .addColumn("bytes_done", "bigint")
      .addColumn("bytes_total", "bigint")
      .addColumn("share", "double precision")
      .addColumn("asset_id", "text")
      .addColumn("file_name", "text")
      .addColumn("reason", "text")
      .addColumn("can_cancel", "integer", (column) => column.notNull())
      .addColumn("created_at", "bigint", (column) => column.notNull())
      .addColumn("checked_at", "bigint", (column) => column.notNull())
      .addColumn("ended_at", "bigint")
      .execute();
    await schema.createIndex("download_tasks_of_connection").on("download_tasks").columns(["connection_id", "created_at"]).execute();
  },
};
