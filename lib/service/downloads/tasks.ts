// Downloads in the background, as tasks that are polled:  created → running → completed | failed | cancelled.
// Guarantees: at most two run at once; bytes pass through the same staging as an upload (hashed while they stream, size checked);
// a task that a restart interrupted begins again; what a failed or cancelled one had fetched is gone.

import { randomUUID } from "node:crypto";
import { type Selectable } from "kysely";
import { createFromStaged } from "../assets/create-asset";
import { type BlobStore } from "../assets/blob-store";
import { stageStream } from "../assets/staged-file";
import { readRecord, readStrings } from "../jobs/job-row";
import { type ServiceLog } from "../options";
import { asRefusal, ServiceError } from "../service-error";
import { type Database, query } from "../store/database";
import { type TaskRow } from "../store/schema";
import { openSource } from "./open-source";
import { requireSource, type SourcePolicy } from "./sources";

export type DownloadParts = {
  database: Database;
  blobs: BlobStore;
  folders: { temp: string };
  policy: SourcePolicy;
  maxBytes: number;
  now: () => number;
  log: ServiceLog;
};
export type Downloads = ReturnType<typeof createDownloads>;
export type StoredTask = Selectable<TaskRow>;
export type WantedDownload = { sourceUrl: string; tags: readonly string[]; metadata: Record<string, unknown>; previewId?: string };

const AT_ONCE = 2;

export function createDownloads(parts: DownloadParts) {
  const { database, now } = parts;
  const waiting: string[] = [];
  const running = new Map<string, { abort: AbortController; total?: number; seen: number; done: Promise<void> }>();
  let accepting = false;

  function pump(): void {
    while (accepting && running.size < AT_ONCE) {
      const id = waiting.shift();
      if (id === undefined) return;
      const abort = new AbortController();
      const state = { abort, total: undefined, seen: 0, done: Promise.resolve() };
      running.set(id, state);
      state.done = runTask(id, state).finally(() => {
        running.delete(id);
        pump();
      });
    }
  }

  async function runTask(id: string, state: { abort: AbortController; total?: number; seen: number }): Promise<void> {
    try {
      const task = await database.commit(() => {
        update(id, { status: "running", started_at: now() });
        return database.row(query.selectFrom("tasks").selectAll().where("id", "=", id));
      });
      if (!task) return;
      const { source_url } = readRecord(task.payload);
      const source = await openSource(parts.policy, requireSource(parts.policy, String(source_url)), "GET", state.abort.signal);
      if (source.contentLength !== undefined && source.contentLength > parts.maxBytes)
        throw new ServiceError("FILE_TOO_LARGE", "The file is larger than this service takes.");
      state.total = source.contentLength;
      const staged = await stageStream(counted(source.body, state), { folder: parts.folders.temp, maxBytes: parts.maxBytes });
      try {
        if (source.contentLength !== undefined && source.contentLength !== staged.size)
          throw new ServiceError("UNPROCESSABLE", "The source ended before the file was complete.");
        const wanted = {
          ownerId: task.user_id,
          name: source.fileName,
          tags: readStrings(task.tags),
          metadata: readRecord(task.metadata),
          previewId: task.preview_id ?? undefined,
        };
        const { asset } = await createFromStaged(parts, staged, wanted);
        const result = {
          success: true,
          filename: asset.name,
          bytes_downloaded: staged.size,
          content_type: asset.media_type,
          asset_id: asset.id,
          hash: `blake3:${asset.hash}`,
        };
        await database.commit(() =>
          update(id, {
            status: "completed",
            completed_at: now(),
            bytes_total: staged.size,
            bytes_downloaded: staged.size,
            result: JSON.stringify(result),
          }),
        );
      } finally {
        await staged.dispose();
      }
    } catch (error) {
      if (!accepting) return; // stopped: the task is found again at the next start
      const isCancelled = state.abort.signal.aborted;
      const message = isCancelled ? "The download was cancelled." : (asRefusal(error)?.message ?? "The download failed.");
      if (!isCancelled && !asRefusal(error)) parts.log.warn({ err: error, task: id }, "a download failed");
      const ending = {
        status: isCancelled ? "cancelled" : "failed",
        completed_at: now(),
        bytes_downloaded: state.seen,
        error_message: message,
      };
      await database
        .commit(() => update(id, { ...ending, result: JSON.stringify({ success: false, error: message }) }))
        .catch(() => undefined);
    }
  }

  function update(id: string, changes: Partial<StoredTask>): void {
    database.run(
      query
        .updateTable("tasks")
        .set({ ...changes, update_time: now() })
        .where("id", "=", id),
    );
  }

  return {
    start(): void {
      accepting = true;
      const open = database.rows(
        query.selectFrom("tasks").select("id").where("status", "in", ["created", "running"]).orderBy("create_time").orderBy("id"),
      );
      waiting.push(...open.map((task) => task.id));
      pump();
    },

    async create(userId: number, wanted: WantedDownload): Promise<StoredTask> {
      const url = requireSource(parts.policy, wanted.sourceUrl);
      const id = randomUUID();
      const at = now();
      const task = await database.commit(() =>
        database.row(
          query
            .insertInto("tasks")
            .values({
              id,
              user_id: userId,
              status: "created",
              payload: JSON.stringify({
                source_url: url.href,
                tags: wanted.tags,
                user_metadata: wanted.metadata,
                preview_id: wanted.previewId ?? null,
              }),
              tags: JSON.stringify(wanted.tags),
              metadata: JSON.stringify(wanted.metadata),
              preview_id: wanted.previewId ?? null,
              create_time: at,
              update_time: at,
            })
            .returningAll(),
        ),
      );
      if (!task) throw new Error("the task was not inserted");
      waiting.push(id);
      pump();
      return task;
    },

    find: (userId: number, id: string) =>
      database.row(query.selectFrom("tasks").selectAll().where("id", "=", id).where("user_id", "=", userId)),

    /** The hash that this user fetched from there before, if its content is still stored. */
    findEarlier(userId: number, sourceUrl: string): string | undefined {
      const url = requireSource(parts.policy, sourceUrl).href;
      const done = query.selectFrom("tasks").select("result").where("user_id", "=", userId).where("status", "=", "completed");
      const row = database.row(
        done
          .where((builder) => builder(builder.fn("json_extract", ["payload", builder.val("$.source_url")]), "=", url))
          .orderBy("create_time", "desc")
          .limit(1),
      );
      const hash = row?.result ? readRecord(row.result).hash : undefined;
      return typeof hash === "string" ? hash : undefined;
    },

    progressOf: (id: string) => running.get(id),

    /** False when it has ended already. */
    async cancel(task: StoredTask): Promise<boolean> {
      const queued = waiting.indexOf(task.id);
      if (queued >= 0) {
        waiting.splice(queued, 1);
        await database.commit(() =>
          update(task.id, { status: "cancelled", completed_at: now(), error_message: "The download was cancelled." }),
        );
        return true;
      }
      const state = running.get(task.id);
      state?.abort.abort();
      return state !== undefined;
    },

    async stop(): Promise<void> {
      accepting = false;
      const open = [...running.values()];
      for (const state of open) state.abort.abort();
      await Promise.all(open.map((state) => state.done));
    },
  };
}

async function* counted(body: AsyncIterable<unknown>, state: { seen: number }): AsyncGenerator<Uint8Array> {
  for await (const chunk of body) {
    if (!(chunk instanceof Uint8Array)) continue;
    state.seen += chunk.byteLength;
    yield chunk;
  }
}
