// The rows of tasks. What changes one runs inside a commit.

import { randomUUID } from "node:crypto";
import { type Selectable } from "kysely";
import { writeExactJson } from "@/lib/contract/json/exact-json";
import { type Database, query } from "../store/database";
import { type TaskRow } from "../store/schema";
import { hideSecrets, nameOfSource } from "../store/source-secrets";

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
        payload: writeExactJson({ source_url: hideSecrets(url.href), tags, user_metadata: metadata, preview_id: previewId }),
        tags: writeExactJson(tags),
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

/** Only while it is unfinished; false where it has ended. With its end its address goes, which may hold a token. */
export function changeTask(database: Database, id: string, changes: Partial<StoredTask>, at: number): boolean {
  const isEnd = typeof changes.completed_at === "number";
  const change = query.updateTable("tasks").set({ ...changes, update_time: at, ...(isEnd && { source_url: "" }) });
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
  const own = query.selectFrom("fetched_sources").select("hash").where("user_id", "=", userId);
  const hash = database.row(own.where("source", "=", nameOfSource(url.href)))?.hash;
  return hash === undefined ? undefined : `blake3:${hash}`;
}

/** Inside the commit that ends the task. */
export function rememberSource(database: Database, { user_id, source_url }: StoredTask, hash: string): void {
  const values = { user_id, source: nameOfSource(source_url), hash };
  database.run(
    query
      .insertInto("fetched_sources")
      .values(values)
      .onConflict((conflict) => conflict.columns(["user_id", "source"]).doUpdateSet({ hash })),
  );
}
