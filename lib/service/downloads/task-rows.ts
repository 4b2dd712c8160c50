// The rows of tasks. What changes one takes the transaction that it is changed in.

import { randomUUID } from "node:crypto";
import { type Selectable } from "kysely";
import { writeExactJson } from "@/lib/contract/json/exact-json";
import { query, type Reader, type Transaction } from "../store/database";
import { type TaskRow } from "../store/schema";
import { hideSecrets, nameOfSource } from "../store/source-secrets";

export type StoredTask = Selectable<TaskRow>;
export type WantedDownload = { url: URL; tags: readonly string[]; metadata: Record<string, unknown>; previewId?: string };

const unfinished = ["created", "running"];

export async function insertTask(tx: Transaction, userId: number, wanted: WantedDownload, at: number): Promise<StoredTask> {
  const { url, tags, metadata, previewId = null } = wanted;
  const task = await tx.row(
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
export async function changeTask(tx: Transaction, id: string, changes: Partial<StoredTask>, at: number): Promise<boolean> {
  const isEnd = typeof changes.completed_at === "number";
  const change = query.updateTable("tasks").set({ ...changes, update_time: at, ...(isEnd && { source_url: "" }) });
  return (await tx.run(change.where("id", "=", id).where("status", "in", unfinished))) > 0;
}

/** What ran when the service ended waits for its turn like the others. */
export async function returnRunning(tx: Transaction, at: number): Promise<void> {
  await tx.run(query.updateTable("tasks").set({ status: "created", update_time: at }).where("status", "=", "running"));
}

export function findTask(reader: Reader, id: string): Promise<StoredTask | undefined> {
  return reader.row(query.selectFrom("tasks").selectAll().where("id", "=", id));
}

/** What was interrupted comes first. */
export function listUnfinished(reader: Reader): Promise<StoredTask[]> {
  const open = query.selectFrom("tasks").selectAll().where("status", "in", unfinished);
  return reader.rows(open.orderBy("status", "desc").orderBy("create_time").orderBy("id"));
}

export async function countUnfinished(reader: Reader, userId: number): Promise<number> {
  const open = query.selectFrom("tasks").where("user_id", "=", userId).where("status", "in", unfinished);
  return Number((await reader.row(open.select(({ fn }) => fn.countAll().as("n"))))?.n ?? 0);
}

/** The hash that this user fetched from there last. Others' downloads say nothing: they would tell what others have. */
export async function findEarlierHash(reader: Reader, userId: number, url: URL): Promise<string | undefined> {
  const own = query.selectFrom("fetched_sources").select("hash").where("user_id", "=", userId);
  const found = await reader.row(own.where("source", "=", nameOfSource(url.href)));
  return found && `blake3:${found.hash}`;
}

/** In the transaction that ends the task. */
export async function rememberSource(tx: Transaction, { user_id, source_url }: StoredTask, hash: string): Promise<void> {
  const values = { user_id, source: nameOfSource(source_url), hash };
  await tx.run(
    query
      .insertInto("fetched_sources")
      .values(values)
      .onConflict((conflict) => conflict.columns(["user_id", "source"]).doUpdateSet({ hash })),
  );
}
