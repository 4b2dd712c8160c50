// The rows of tasks. What changes one runs inside a commit.

import { randomUUID } from "node:crypto";
import { type Selectable } from "kysely";
import { writeExactJson } from "@/lib/contract/exact-json";
import { readRecord } from "../jobs/job-row";
import { type Database, query } from "../store/database";
import { type TaskRow } from "../store/schema";

export type StoredTask = Selectable<TaskRow>;
export type WantedDownload = { url: URL; tags: readonly string[]; metadata: Record<string, unknown>; previewId?: string };

const unfinished = ["created", "running"];

export function insertTask(database: Database, userId: number, wanted: WantedDownload, at: number): StoredTask {
  const { url, tags, metadata, previewId = null } = wanted;
  const task = database.row(
    query
      .insertInto("tasks")
      .values({
        id: randomUUID(),
        user_id: userId,
        status: "created",
        source_url: url.href,
        payload: writeExactJson({ source_url: url.href, tags, user_metadata: metadata, preview_id: previewId }),
        tags: JSON.stringify(tags),
        metadata: writeExactJson(metadata),
        preview_id: previewId,
        create_time: at,
        update_time: at,
      })
      .returningAll(),
  );
  if (!task) throw new Error("the task was not inserted");
  return task;
}

/** Only while it is unfinished; false where it has ended. */
export function changeTask(database: Database, id: string, changes: Partial<StoredTask>, at: number): boolean {
  const change = query.updateTable("tasks").set({ ...changes, update_time: at });
  return database.run(change.where("id", "=", id).where("status", "in", unfinished)) > 0;
}

export function findTask(database: Database, id: string): StoredTask | undefined {
  return database.row(query.selectFrom("tasks").selectAll().where("id", "=", id));
}

/** What was interrupted comes first. */
export function listUnfinished(database: Database): StoredTask[] {
  const open = query.selectFrom("tasks").selectAll().where("status", "in", unfinished);
  return database.rows(open.orderBy("status", "desc").orderBy("create_time").orderBy("id"));
}

export function countUnfinished(database: Database, userId: number): number {
  const open = query.selectFrom("tasks").where("user_id", "=", userId).where("status", "in", unfinished);
  return Number(database.row(open.select(({ fn }) => fn.countAll().as("n")))?.n ?? 0);
}

/** The hash that this user fetched from there last. Others' downloads say nothing: they would tell what others have. */
export function findEarlierHash(database: Database, userId: number, url: URL): string | undefined {
  const done = query.selectFrom("tasks").select("result").where("user_id", "=", userId).where("status", "=", "completed");
  const row = database.row(done.where("source_url", "=", url.href).orderBy("create_time", "desc").limit(1));
  const hash = row?.result ? readRecord(row.result).hash : undefined;
  return typeof hash === "string" ? hash : undefined;
}
