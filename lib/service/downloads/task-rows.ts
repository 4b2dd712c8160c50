import { createHash, randomUUID } from "node:crypto";
import { type Selectable, sql } from "kysely";
import { writeExactJson } from "@/lib/contract/json/exact-json";
import { readRecord } from "../jobs/job-row";
import { type ServiceSettings } from "../settings";
import { createStatement, type Database, query, type Reader, type Transaction } from "../store/database";
import { type TaskRow } from "../store/schema";
import { PUBLIC_OWNER } from "../users/keys";

const secretParamPattern =
  /^(.*[-_.])?(token|key|apikey|secret|password|passwd|pwd|auth|authorization|credentials?|signature|sig|jwt|session)$/i;
const signingParamPattern = /^x-(amz|goog)-/i;
const REDACTED = "***";

function redactSecrets(url: string): string {
  const start = url.indexOf("?");
  if (start < 0) return url;
  const redactedPairs = url
    .slice(start + 1)
    .split("&")
    .map((pair) => {
      const name = pair.split("=")[0] ?? "";
      return pair.includes("=") && isSecretParam(name) ? `${name}=${REDACTED}` : pair;
    });
  return `${url.slice(0, start)}?${redactedPairs.join("&")}`;
}

/** A one-way hash of the URL, to recognise later requests for it. */
function hashSource(url: string): string {
  return createHash("sha256").update(url).digest("hex");
}

function isSecretParam(name: string): boolean {
  const decodedName = decodeParam(name);
  return secretParamPattern.test(decodedName) || signingParamPattern.test(decodedName);
}

function decodeParam(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text; // malformed percent-encoding
  }
}

export type StoredTask = Selectable<TaskRow>;
export type NewDownload = { url: URL; tags: readonly string[]; metadata: Record<string, unknown>; previewId?: string };

/** Must match the condition of the index of unfinished tasks. */
const unfinishedCondition = sql<boolean>`status in ('created', 'running')`;
export type RunningTask = Pick<StoredTask, "id" | "holder">;

export async function insertTask(tx: Transaction, userId: number, download: NewDownload, nowMs: number): Promise<StoredTask> {
  const { url, tags, metadata, previewId = null } = download;
  const task = await tx.row(
    query
      .insertInto("tasks")
      .values({
        id: randomUUID(),
        user_id: userId,
        status: "created",
        source_url: url.href,
        payload: writeExactJson({ source_url: redactSecrets(url.href), tags, user_metadata: metadata, preview_id: previewId }),
        tags: writeExactJson(tags),
        metadata: writeExactJson(metadata),
        preview_id: previewId,
        create_time: nowMs,
        update_time: nowMs,
      })
      .returningAll(),
  );
  if (!task) throw new Error("the task was not inserted");
  return task;
}

export async function updateTask(tx: Transaction, task: RunningTask, changes: Partial<StoredTask>, nowMs: number): Promise<boolean> {
  const update = query.updateTable("tasks").set({ ...changes, update_time: nowMs });
  return (await tx.run(update.where(createRunningCondition(task)))) > 0;
}

/** Returns the task, or undefined if it has already ended or another process runs it. Removes its URL, which may contain a token. */
export async function endTask(
  tx: Transaction,
  task: Pick<StoredTask, "id"> & Partial<RunningTask>,
  changes: Partial<StoredTask>,
  nowMs: number,
): Promise<StoredTask | undefined> {
  const endUpdate = query.updateTable("tasks").set({ ...changes, completed_at: nowMs, update_time: nowMs, source_url: "" });
  const update =
    task.holder === undefined
      ? endUpdate.where("id", "=", task.id).where(unfinishedCondition)
      : endUpdate.where(createRunningCondition({ ...task, holder: task.holder }));
  return tx.row(update.returningAll());
}

/** Returns the task to the front of the user's queue. */
export async function releaseTask(tx: Transaction, task: RunningTask, nowMs: number): Promise<void> {
  const update = query.updateTable("tasks").set({ status: "created", holder: null, update_time: nowMs });
  await tx.run(update.where(createRunningCondition(task)));
}

function createRunningCondition({ id, holder }: RunningTask) {
  return sql<boolean>`${unfinishedCondition} and status = 'running' and id = ${id} and ${holder === null ? sql`holder is null` : sql`holder = ${holder}`}`;
}

/** Users with the fewest running tasks first, then the user whose last task ended longest ago. */
const waitingUsersQuery = createStatement<{ user_id: number }>(`
  SELECT user_id FROM (SELECT DISTINCT user_id FROM tasks WHERE status IN ('created', 'running') AND status = 'created') AS waiting
  ORDER BY
    (SELECT count(*) FROM tasks WHERE user_id = waiting.user_id AND status IN ('created', 'running') AND status = 'running'),
    (SELECT coalesce(max(completed_at), 0) FROM tasks WHERE user_id = waiting.user_id),
    user_id`);
/** Interrupted tasks come first. A task waits while another one downloads the same URL. */
const selectNextTask = (userId: number) =>
  createStatement<StoredTask>(
    `SELECT * FROM tasks AS waiting WHERE user_id = ? AND status IN ('created', 'running') AND status = 'created'
       AND NOT EXISTS (SELECT 1 FROM tasks WHERE user_id = waiting.user_id AND status IN ('created', 'running') AND status = 'running'
         AND source_url = waiting.source_url)
     ORDER BY started_at IS NULL, create_time, id LIMIT 1`,
    [userId],
  );

export async function findNextTask(reader: Reader): Promise<StoredTask | undefined> {
  for (const { user_id } of await reader.rows(waitingUsersQuery)) {
    const task = await reader.row(selectNextTask(user_id));
    if (task) return task;
  }
  return undefined;
}

export async function claimTask(tx: Transaction, holder: string, nowMs: number): Promise<StoredTask | undefined> {
  const task = await findNextTask(tx);
  if (!task) return undefined;
  const claimFields = { status: "running", holder, started_at: task.started_at ?? nowMs, update_time: nowMs };
  await tx.run(query.updateTable("tasks").set(claimFields).where("id", "=", task.id));
  return { ...task, status: "running", holder };
}

export function findTask(reader: Reader, id: string): Promise<StoredTask | undefined> {
  return reader.row(query.selectFrom("tasks").selectAll().where("id", "=", id));
}

export function listRunningTasks(reader: Reader): Promise<RunningTask[]> {
  return reader.rows(
    query
      .selectFrom("tasks")
      .select(["id", "holder"])
      .where(unfinishedCondition)
      .where(sql<boolean>`status = 'running'`),
  );
}

export async function listUnfinishedParts(reader: Reader): Promise<ReadonlySet<string>> {
  const tasks = await reader.rows(query.selectFrom("tasks").select(["id", "part"]).where(unfinishedCondition));
  return new Set(tasks.map(({ id, part }) => part ?? id));
}

export async function countUnfinishedTasks(reader: Reader, userId: number): Promise<number> {
  const unfinishedTasks = query.selectFrom("tasks").where("user_id", "=", userId).where(unfinishedCondition);
  return Number((await reader.row(unfinishedTasks.select(({ fn }) => fn.countAll().as("n"))))?.n ?? 0);
}

/** Returns the hash of this user's last download from this URL. Ignores other users' downloads, which would reveal their files. */
export async function findEarlierHash(reader: Reader, userId: number, url: URL): Promise<string | undefined> {
  const userSources = query.selectFrom("fetched_sources").select("hash").where("user_id", "=", userId);
  const row = await reader.row(userSources.where("source", "=", hashSource(url.href)));
  return row && `blake3:${row.hash}`;
}

export async function recordSource(tx: Transaction, { user_id, source_url }: StoredTask, hash: string): Promise<void> {
  const values = { user_id, source: hashSource(source_url), hash };
  await tx.run(
    query
      .insertInto("fetched_sources")
      .values(values)
      .onConflict((conflict) => conflict.columns(["user_id", "source"]).doUpdateSet({ hash })),
  );
}

export function toTaskView(task: StoredTask) {
  const { bytes_total, bytes_downloaded } = task;
  const toIso = (timeMs: number) => new Date(timeMs).toISOString();
  return {
    id: task.id,
    idempotency_key: task.id,
    task_name: "task:download_file",
    payload: readRecord(task.payload),
    status: task.status,
    create_time: toIso(task.create_time),
    update_time: toIso(task.update_time),
    ...(task.started_at !== null && { started_at: toIso(task.started_at) }),
    ...(task.completed_at !== null && { completed_at: toIso(task.completed_at) }),
    ...(task.result !== null && { result: readRecord(task.result) }),
    ...(task.error_message !== null && { error_message: task.error_message }),
    bytes_total,
    bytes_downloaded,
    progress: task.status === "completed" ? 1 : bytes_total ? Math.min(1, bytes_downloaded / bytes_total) : 0,
  };
}

const DAY_MS = 86_400_000;
const BATCH_SIZE = 500;

export type PruneDependencies = {
  database: Database;
  settings: Pick<ServiceSettings, "retentionTaskDays" | "retentionTasks">;
  now: () => number;
};

export async function pruneTasks({ database, settings, now }: PruneDependencies, canContinue: () => boolean): Promise<number> {
  let removedCount = 0;
  const cutoff = now() - settings.retentionTaskDays * DAY_MS;
  for (const { id } of await database.rows(query.selectFrom("users").select("id"))) {
    const endedTasks = query.selectFrom("tasks").select("tasks.id").where("user_id", "=", id).where("completed_at", "is not", null);
    const expiredTasks = endedTasks.where("completed_at", "<", cutoff).limit(BATCH_SIZE);
    const excessTasks = endedTasks.orderBy("completed_at", "desc").orderBy("id", "desc").limit(BATCH_SIZE).offset(settings.retentionTasks);
    for (const taskIds of [expiredTasks, excessTasks]) {
      for (let batchCount = BATCH_SIZE; batchCount === BATCH_SIZE && canContinue(); removedCount += batchCount)
        batchCount = await database.commitWithReserve((tx) => tx.run(query.deleteFrom("tasks").where("id", "in", taskIds)));
    }
  }
  await database.commitWithReserve((tx) => tx.run(deleteUnusedSources));
  return removedCount;
}

/** Deletes entries of content that the user no longer has. */
const deleteUnusedSources = query.deleteFrom("fetched_sources").where(({ not, exists, selectFrom }) =>
  not(
    exists(
      selectFrom("assets")
        .select("assets.seq")
        .whereRef("assets.hash", "=", "fetched_sources.hash")
        .where(({ or, eb }) =>
          or([eb("assets.owner_id", "=", eb.ref("fetched_sources.user_id")), eb("assets.owner_id", "=", PUBLIC_OWNER)]),
        ),
    ),
  ),
);
