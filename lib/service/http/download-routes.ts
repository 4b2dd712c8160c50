// Downloads from permitted sources, their tasks, and what is known of a source before it is fetched.

import { operations } from "@/lib/contract/operations";
import { findAsset, readPreviews } from "../assets/asset-row";
import { toAsset } from "../assets/asset-view";
import { requireSomeRoom } from "../assets/quota";
import { noFile } from "../downloads/fetch-file";
import { toTask } from "../downloads/task-view";
import { type Parts } from "../parts";
import { ServiceError } from "../service-error";
import { PUBLIC_OWNER } from "../users/user";
import { empty, json } from "./answers";
import { invalid } from "./read-query";
import { type Route, route } from "./route";

export function downloadRoutes(parts: Parts): Route[] {
  const { database, downloads, settings } = parts;

  return [
    route(operations.downloadAsset, async ({ body, user, baseUrl }) => {
      const { source_url: sourceUrl, tags = [], user_metadata: metadata = {}, preview_id: previewId } = await body();
      const url = await downloads.requireSource(sourceUrl, "source_url");
      if (new Set(tags).size > settings.maxTagsPerAsset)
        throw invalid("INVALID_BODY", [{ field: "tags", message: `an asset has at most ${settings.maxTagsPerAsset} tags` }]);
      if (previewId !== undefined && !(await findAsset(database, previewId, [user.id, PUBLIC_OWNER])))
        throw new ServiceError("INVALID_PREVIEW_ID", "preview_id is not one of your assets.", { field: "preview_id" });
      const existing = await downloads.createOfExisting(url, { ownerId: user.id, name: "", tags, metadata, previewId });
      if (existing) {
        const { asset, createdNew } = existing;
        return json(toAsset(asset, baseUrl, await readPreviews(database, user.id, [asset]), createdNew));
      }
      await requireSomeRoom(database, user.id);
      const task = await downloads.create(user.id, { url, tags, metadata, previewId });
      return json({ task_id: task.id, status: task.status, message: "The download has been queued." }, 202);
    }),

    route(operations.getTask, async ({ user, param }) => json(toTask(await downloads.find(user.id, param("task_id"))))),

    route(operations.cancelTask, async ({ user, param }) => {
      if (!(await downloads.cancel(await downloads.find(user.id, param("task_id")))))
        throw new ServiceError("CONFLICT", "The task has ended already.");
      return empty(204);
    }),

    route(operations.getRemoteMetadata, async ({ query }) => {
      const { url } = query();
      const { contentLength = -1, contentType, fileName, isPage } = await downloads.describe(await downloads.requireSource(url, "url"));
      const message = `The file is larger than the ${settings.maxDownloadBytes} bytes that this service downloads.`;
      const errors = [
        ...(contentLength > settings.maxDownloadBytes ? [{ code: "FILE_TOO_LARGE", message, field: "content_length" }] : []),
        ...(isPage ? [{ code: "UNPROCESSABLE", message: noFile, field: "url" }] : []),
      ];
      return json({
        content_length: contentLength,
        content_type: contentType,
        filename: fileName,
        name: fileName,
        tags: [],
        validation: { is_valid: errors.length === 0, errors, warnings: [] },
      });
    }),
  ];
}
