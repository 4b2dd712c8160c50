// Downloads from permitted sources, their tasks, and what is known of a source before it is fetched.

import { z } from "zod";
import { operations } from "@/lib/contract/operations";
import { downloadBodySchema } from "@/lib/contract/schemas/asset";
import { findAsset } from "../assets/asset-row";
import { toAsset } from "../assets/asset-view";
import { createFromHash, findVisibleContent } from "../assets/create-asset";
import { requireSomeRoom } from "../assets/quota";
import { openSource } from "../downloads/open-source";
import { requireSource } from "../downloads/sources";
import { type StoredTask } from "../downloads/tasks";
import { readRecord } from "../jobs/job-row";
import { type Parts } from "../parts";
import { ServiceError } from "../service-error";
import { PUBLIC_OWNER } from "../users/user";
import { empty, json } from "./answers";
import { readJson } from "./read-json";
import { readQuery } from "./read-query";
import { type Call, route, type Route } from "./route";

const remoteQuerySchema = z.object({ url: z.string().min(1).max(4000) });

export function downloadRoutes(parts: Parts): Route[] {
  const { database, downloads, sources: policy } = parts;

  function requireTask(call: Call<"task_id">): StoredTask {
    const task = downloads.find(call.user.id, call.param("task_id"));
    if (!task) throw new ServiceError("NOT_FOUND", "There is no such task.");
    return task;
  }

  return [
    route(operations.downloadAsset, async ({ request, user, baseUrl }) => {
      const {
        source_url: sourceUrl,
        tags = [],
        user_metadata: metadata = {},
        preview_id: previewId,
      } = await readJson(request, downloadBodySchema, parts.settings);
      requireSource(policy, sourceUrl);
      if (previewId && !findAsset(database, previewId, [user.id, PUBLIC_OWNER]))
        throw new ServiceError("INVALID_PREVIEW_ID", "preview_id names no asset of yours.", { field: "preview_id" });
      const earlier = downloads.findEarlier(user.id, sourceUrl);
      if (earlier && findVisibleContent(database, user.id, earlier)) {
        const { asset, createdNew } = await createFromHash(parts, earlier, { ownerId: user.id, name: "", tags, metadata, previewId });
        return json(toAsset(asset, baseUrl, (id) => findAsset(database, id, [user.id, PUBLIC_OWNER]), createdNew));
      }
      requireSomeRoom(database, user.id);
      const task = await downloads.create(user.id, { sourceUrl, tags, metadata, previewId });
      return json({ task_id: task.id, status: task.status, message: "The download has been queued." }, 202);
    }),

    route(operations.getTask, (call) => {
      const task = requireTask(call);
      return json(toTask(task, downloads.progressOf(task.id)));
    }),

    route(operations.cancelTask, async (call) => {
      if (!(await downloads.cancel(requireTask(call)))) throw new ServiceError("CONFLICT", "The task has ended already.");
      return empty(204);
    }),

    route(operations.getRemoteMetadata, async ({ request }) => {
      const { url } = readQuery(request, remoteQuerySchema);
      const source = await openSource(policy, requireSource(policy, url), "HEAD");
      source.body.resume();
      const validation = { is_valid: true, errors: [], warnings: [] };
      return json({
        content_length: source.contentLength ?? -1,
        content_type: source.contentType,
        filename: source.fileName,
        name: source.fileName,
        tags: [],
        validation,
      });
    }),
  ];
}

function toTask(task: StoredTask, progress: { total?: number; seen: number } | undefined) {
  const downloaded = progress?.seen ?? task.bytes_downloaded;
  const total = progress?.total ?? task.bytes_total;
  const time = (at: number) => new Date(at).toISOString();
  return {
    id: task.id,
    idempotency_key: task.id,
    task_name: "task:download_file",
    payload: readRecord(task.payload),
    status: task.status,
    create_time: time(task.create_time),
    update_time: time(task.update_time),
    ...(task.started_at !== null && { started_at: time(task.started_at) }),
    ...(task.completed_at !== null && { completed_at: time(task.completed_at) }),
    ...(task.result !== null && { result: readRecord(task.result) }),
    ...(task.error_message !== null && { error_message: task.error_message }),
    bytes_total: total,
    bytes_downloaded: downloaded,
    progress: task.status === "completed" ? 1 : total ? Math.min(1, downloaded / total) : 0,
  };
}
