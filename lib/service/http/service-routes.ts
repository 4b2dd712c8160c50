import { freemem, platform, totalmem } from "node:os";
import { operations } from "@/lib/contract/operations";
import { findAsset, readPreviews, toAsset } from "../assets/asset-view";
import { listTags, refineTags } from "../assets/change-asset";
import { listInputNames } from "../assets/file-names";
import { quotaExceeded, readUsedBytes, requireFreeQuota } from "../assets/quota";
import { webPageMessage } from "../downloads/fetch-file";
import { toTask } from "../downloads/task-rows";
import { ServiceError, toRefusal } from "../service-error";
import { createUserFiles, parseFilePath, parseFolder, type UserFile } from "../userdata/user-files";
import { PUBLIC_OWNER } from "../users/keys";
import { invalidRequest, withIdleTimeout } from "./read-json";
import { emptyResponse, jsonResponse, jsonTextResponse, type Route, route, type RouteDependencies } from "./route";
import { sendBytes } from "./send-bytes";

/** With ComfyUI's field names, because its clients show them. */
function describeSystem() {
  const [vram_total, vram_free] = [totalmem(), freemem()];
  return {
    system: {
      os: platform(),
      ram_total: vram_total,
      ram_free: vram_free,
      comfyui_version: "lightdesk",
      python_version: `none (Node.js ${process.versions.node})`,
      embedded_python: false,
      argv: [],
    },
    devices: [{ name: "cpu", type: "cpu", index: 0, vram_total, vram_free, torch_vram_total: vram_total, torch_vram_free: vram_free }],
  };
}

export function serviceRoutes(parts: RouteDependencies): Route[] {
  const { database } = parts;
  const { libraries } = parts.pool;
  return [
    route(operations.getUser, async ({ user }) => {
      const quota_bytes = parts.settings.userQuotaBytes;
      const storage = quota_bytes !== undefined && { storage: { used_bytes: await readUsedBytes(database, user.id), quota_bytes } };
      return jsonResponse({ status: user.status, id: user.name, ...storage });
    }),
    route(operations.getFeatures, () => jsonResponse({ supports_preview_metadata: false, max_upload_size: parts.settings.maxUploadBytes })),
    route(operations.getObjectInfo, async ({ user }) => jsonTextResponse(libraries.describe(await listInputNames(database, user.id)))),
    route(operations.getObjectInfoOf, async ({ user, param }) =>
      jsonTextResponse(libraries.describe(await listInputNames(database, user.id), param("class"))),
    ),
    route(operations.listModelFolders, () => jsonResponse([])),
    route(operations.listModels, () => jsonResponse([])),
    route(operations.getSystemStats, () => jsonResponse(describeSystem())),
    route(operations.freeMemory, async ({ body }) => {
      await body();
      return emptyResponse(200);
    }),
    route(operations.listTags, async ({ query, user }) => jsonResponse(await listTags(database, user.id, query()))),
    route(operations.refineTags, async ({ query, user }) => jsonResponse({ tag_counts: await refineTags(parts, user.id, query()) })),
  ];
}

export function downloadRoutes(parts: RouteDependencies): Route[] {
  const { database, downloads, settings } = parts;

  return [
    route(operations.downloadAsset, async ({ body, user, baseUrl }) => {
      const { source_url: sourceUrl, tags = [], user_metadata: metadata = {}, preview_id: previewId } = await body();
      const url = await downloads.requireSource(sourceUrl, "source_url");
      if (new Set(tags).size > settings.maxTagsPerAsset)
        throw invalidRequest("INVALID_BODY", [{ field: "tags", message: `an asset has at most ${settings.maxTagsPerAsset} tags` }]);
      if (previewId !== undefined && !(await findAsset(database, previewId, [user.id, PUBLIC_OWNER])))
        throw new ServiceError("INVALID_PREVIEW_ID", "preview_id is not one of your assets.", { field: "preview_id" });
      const existing = await downloads.createOfExisting(url, { ownerId: user.id, name: "", tags, metadata, previewId });
      if (existing) {
        const { asset, createdNew } = existing;
        return jsonResponse(toAsset(asset, baseUrl, await readPreviews(database, user.id, [asset]), createdNew));
      }
      await requireFreeQuota(database, user.id);
      const task = await downloads.create(user.id, { url, tags, metadata, previewId });
      return jsonResponse({ task_id: task.id, status: task.status, message: "The download has been queued." }, 202);
    }),

    route(operations.getTask, async ({ user, param }) => jsonResponse(toTask(await downloads.find(user.id, param("task_id"))))),

    route(operations.cancelTask, async ({ user, param }) => {
      if (!(await downloads.cancel(await downloads.find(user.id, param("task_id")))))
        throw new ServiceError("CONFLICT", "The task has ended already.");
      return emptyResponse(204);
    }),

    route(operations.getRemoteMetadata, async ({ query }) => {
      const { url } = query();
      const { contentLength = -1, contentType, fileName, isPage } = await downloads.describe(await downloads.requireSource(url, "url"));
      const message = `The file is larger than the ${settings.maxDownloadBytes} bytes that this service downloads.`;
      const errors = [
        ...(contentLength > settings.maxDownloadBytes ? [{ code: "FILE_TOO_LARGE", message, field: "content_length" }] : []),
        ...(isPage ? [{ code: "UNPROCESSABLE", message: webPageMessage, field: "url" }] : []),
      ];
      return jsonResponse({
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

const MAX_BYTES = 64 * 1024 * 1024;
const PREFIX = "/api/userdata/";

/** A path with /move/ in it is a move. Any other path is a file. */
export function userdataRoutes(parts: RouteDependencies): Route[] {
  const { blobs } = parts;
  const maxBytes = Math.min(MAX_BYTES, parts.settings.maxUploadBytes);
  const files = createUserFiles(parts, maxBytes);

  /** User files have their own quota. `check` limits a body without a declared length. */
  async function requireUserdataQuota(userId: number, segments: readonly string[], request: Request): Promise<(size: number) => void> {
    const quota = parts.settings.userQuotaBytes;
    if (quota === undefined) return () => undefined;
    const [used, replaced = 0] = [await files.usedBytes(userId), await files.sizeOf(userId, segments)];
    const check = (size: number) => {
      if (used - replaced + size > quota) throw quotaExceeded(used, quota);
    };
    check(Number(request.headers.get("content-length") ?? 0));
    return check;
  }

  return [
    route(operations.listUserdata, async ({ query, user }) => {
      const { dir, recurse } = query();
      return jsonResponse(await files.list(user.id, parseFolder(dir), recurse));
    }),

    route(operations.writeUserdata, async ({ request, query, user }) => {
      const raw = getRawPath(request);
      const { overwrite, full_info } = query();
      const [, from, to] = /^(.+)\/move\/(.+)$/.exec(raw) ?? [];
      if (from !== undefined && to !== undefined) {
        return toFileResponse(await files.move(user.id, parseFilePath(from), parseFilePath(to), overwrite), full_info);
      }
      const segments = parseFilePath(raw);
      if (Number(request.headers.get("content-length") ?? 0) > maxBytes)
        throw new ServiceError("FILE_TOO_LARGE", `The file is larger than ${maxBytes} bytes.`);
      const check = await requireUserdataQuota(user.id, segments, request);
      const body = readBytes(request, parts.settings.requestTimeoutMs, check);
      return toFileResponse(await files.write(user.id, segments, body, overwrite), full_info);
    }),

    route(operations.readUserdata, async ({ request, user }) => {
      const segments = parseFilePath(getRawPath(request));
      const fileInfo = { fileName: segments.at(-1) ?? "", mediaType: "application/octet-stream" };
      return files.read(user.id, segments, ({ hash, size, modified: modifiedMs }) =>
        sendBytes(request, { ...fileInfo, open: () => blobs.open(hash, size), storedSize: size, etag: hash, modifiedMs, immutable: false }),
      );
    }),

    route(operations.deleteUserdata, async ({ request, user }) => {
      await files.remove(user.id, parseFilePath(getRawPath(request)));
      return emptyResponse(204);
    }),
  ];
}

function getRawPath(request: Request): string {
  const { pathname } = new URL(request.url);
  return pathname.slice(pathname.indexOf(PREFIX) + PREFIX.length);
}

async function* readBytes(request: Request, timeoutMs: number, check: (size: number) => void): AsyncGenerator<Uint8Array> {
  const declared = request.headers.get("content-length");
  let bytesReceived = 0;
  try {
    for await (const chunk of request.body ? withIdleTimeout(request.body, timeoutMs) : []) {
      bytesReceived += chunk.byteLength;
      check(bytesReceived);
      yield chunk;
    }
  } catch (error) {
    if (toRefusal(error)) throw error;
    throw new ServiceError("TRUNCATED_UPLOAD", "The upload ended before it was complete. Nothing was stored.");
  }
  if (declared !== null && Number(declared) !== bytesReceived)
    throw new ServiceError("TRUNCATED_UPLOAD", "The upload ended before it was complete. Nothing was stored.");
}

function toFileResponse(file: UserFile, fullInfo: boolean): Response {
  return jsonResponse(fullInfo ? { ...file, modified: new Date(file.modified).toISOString() } : file.path);
}
