import { freemem, platform, totalmem } from "node:os";
import { operations } from "@/lib/contract/operations";
import { findAsset, readPreviews, toAsset } from "../assets/asset-view";
import { countMatchingTags, listTags } from "../assets/change-asset";
import { listInputNames } from "../assets/file-names";
import { createQuotaExceededError, readUsedBytes, requireFreeQuota } from "../assets/quota";
import { webPageMessage } from "../downloads/fetch-file";
import { toTaskView } from "../downloads/task-rows";
import { ServiceError, toErrorBody } from "../service-error";
import { createUserFiles, parseFilePath, parseFolder, type UserFile } from "../userdata/user-files";
import { PUBLIC_OWNER } from "../users/keys";
import { createInvalidRequestError, withIdleTimeout } from "./read-json";
import { defineRoute, emptyResponse, jsonResponse, jsonTextResponse, type Route, type RouteDependencies } from "./route";
import { sendBytes } from "./send-bytes";

/** Uses ComfyUI's field names, because its clients display them. */
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

export function createServiceRoutes(dependencies: RouteDependencies): Route[] {
  const { database } = dependencies;
  const { libraries } = dependencies.pool;
  return [
    defineRoute(operations.getUser, async ({ user }) => {
      const quota_bytes = dependencies.settings.userQuotaBytes;
      const storage = quota_bytes !== undefined && { storage: { used_bytes: await readUsedBytes(database, user.id), quota_bytes } };
      return jsonResponse({ status: user.status, id: user.name, ...storage });
    }),
    defineRoute(operations.getFeatures, () =>
      jsonResponse({ supports_preview_metadata: false, max_upload_size: dependencies.settings.maxUploadBytes }),
    ),
    defineRoute(operations.getObjectInfo, async ({ user }) =>
      jsonTextResponse(libraries.writeObjectInfo(await listInputNames(database, user.id))),
    ),
    defineRoute(operations.getObjectInfoOf, async ({ user, param }) =>
      jsonTextResponse(libraries.writeObjectInfo(await listInputNames(database, user.id), param("class"))),
    ),
    defineRoute(operations.listModelFolders, () => jsonResponse([])),
    defineRoute(operations.listModels, () => jsonResponse([])),
    defineRoute(operations.getSystemStats, () => jsonResponse(describeSystem())),
    defineRoute(operations.freeMemory, async ({ body }) => {
      await body();
      return emptyResponse(200);
    }),
    defineRoute(operations.listTags, async ({ query, user }) => jsonResponse(await listTags(database, user.id, query()))),
    defineRoute(operations.refineTags, async ({ query, user }) =>
      jsonResponse({ tag_counts: await countMatchingTags(dependencies, user.id, query()) }),
    ),
  ];
}

export function createDownloadRoutes(dependencies: RouteDependencies): Route[] {
  const { database, downloads, settings } = dependencies;

  return [
    defineRoute(operations.downloadAsset, async ({ body, user, baseUrl }) => {
      const { source_url: sourceUrl, tags = [], user_metadata: metadata = {}, preview_id: previewId } = await body();
      const url = await downloads.requireSource(sourceUrl, "source_url");
      if (new Set(tags).size > settings.maxTagsPerAsset)
        throw createInvalidRequestError("INVALID_BODY", [
          { field: "tags", message: `an asset has at most ${settings.maxTagsPerAsset} tags` },
        ]);
      if (previewId !== undefined && !(await findAsset(database, previewId, [user.id, PUBLIC_OWNER])))
        throw new ServiceError("INVALID_PREVIEW_ID", "preview_id is not one of your assets.", { field: "preview_id" });
      const createdAsset = await downloads.createFromExistingContent(url, { ownerId: user.id, name: "", tags, metadata, previewId });
      if (createdAsset) {
        const { asset, isNew } = createdAsset;
        return jsonResponse(toAsset(asset, baseUrl, await readPreviews(database, user.id, [asset]), isNew));
      }
      await requireFreeQuota(database, user.id);
      const task = await downloads.create(user.id, { url, tags, metadata, previewId });
      return jsonResponse({ task_id: task.id, status: task.status, message: "The download has been queued." }, 202);
    }),

    defineRoute(operations.getTask, async ({ user, param }) => jsonResponse(toTaskView(await downloads.find(user.id, param("task_id"))))),

    defineRoute(operations.cancelTask, async ({ user, param }) => {
      if (!(await downloads.cancel(await downloads.find(user.id, param("task_id")))))
        throw new ServiceError("CONFLICT", "The task has ended already.");
      return emptyResponse(204);
    }),

    defineRoute(operations.getRemoteMetadata, async ({ query }) => {
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

const MAX_USERDATA_BYTES = 64 * 1024 * 1024;
const USERDATA_PREFIX = "/api/userdata/";

/** A path that contains /move/ moves a file. Any other path is a file. */
export function createUserdataRoutes(dependencies: RouteDependencies): Route[] {
  const { blobs } = dependencies;
  const maxBytes = Math.min(MAX_USERDATA_BYTES, dependencies.settings.maxUploadBytes);
  const files = createUserFiles(dependencies, maxBytes);

  /** User files have their own quota. The returned function limits a body without a declared length. */
  async function requireUserdataQuota(userId: number, segments: readonly string[], request: Request): Promise<(size: number) => void> {
    const quota = dependencies.settings.userQuotaBytes;
    if (quota === undefined) return () => undefined;
    const [usedBytes, replacedBytes = 0] = [await files.readUsedBytes(userId), await files.findFileSize(userId, segments)];
    const requireFit = (size: number) => {
      if (usedBytes - replacedBytes + size > quota) throw createQuotaExceededError(usedBytes, quota);
    };
    requireFit(Number(request.headers.get("content-length") ?? 0));
    return requireFit;
  }

  return [
    defineRoute(operations.listUserdata, async ({ query, user }) => {
      const { dir, recurse } = query();
      return jsonResponse(await files.list(user.id, parseFolder(dir), recurse));
    }),

    defineRoute(operations.writeUserdata, async ({ request, query, user }) => {
      const rawPath = getRawPath(request);
      const { overwrite, full_info } = query();
      const [, sourcePath, targetPath] = /^(.+)\/move\/(.+)$/.exec(rawPath) ?? [];
      if (sourcePath !== undefined && targetPath !== undefined) {
        return toFileResponse(await files.move(user.id, parseFilePath(sourcePath), parseFilePath(targetPath), overwrite), full_info);
      }
      const segments = parseFilePath(rawPath);
      if (Number(request.headers.get("content-length") ?? 0) > maxBytes)
        throw new ServiceError("FILE_TOO_LARGE", `The file is larger than ${maxBytes} bytes.`);
      const requireFit = await requireUserdataQuota(user.id, segments, request);
      const body = readBytes(request, dependencies.settings.requestTimeoutMs, requireFit);
      return toFileResponse(await files.write(user.id, segments, body, overwrite), full_info);
    }),

    defineRoute(operations.readUserdata, async ({ request, user }) => {
      const segments = parseFilePath(getRawPath(request));
      const fileInfo = { fileName: segments.at(-1) ?? "", mediaType: "application/octet-stream" };
      return files.read(user.id, segments, ({ hash, size, modified: modifiedMs }) =>
        sendBytes(request, {
          ...fileInfo,
          open: () => blobs.open(hash, size),
          storedSize: size,
          etag: hash,
          modifiedMs,
          isImmutable: false,
        }),
      );
    }),

    defineRoute(operations.deleteUserdata, async ({ request, user }) => {
      await files.remove(user.id, parseFilePath(getRawPath(request)));
      return emptyResponse(204);
    }),
  ];
}

function getRawPath(request: Request): string {
  const { pathname } = new URL(request.url);
  return pathname.slice(pathname.indexOf(USERDATA_PREFIX) + USERDATA_PREFIX.length);
}

async function* readBytes(request: Request, timeoutMs: number, requireFit: (size: number) => void): AsyncGenerator<Uint8Array> {
  const declaredLength = request.headers.get("content-length");
  let bytesReceived = 0;
  try {
    for await (const chunk of request.body ? withIdleTimeout(request.body, timeoutMs) : []) {
      bytesReceived += chunk.byteLength;
      requireFit(bytesReceived);
      yield chunk;
    }
  } catch (error) {
    if (toErrorBody(error)) throw error;
    throw new ServiceError("TRUNCATED_UPLOAD", "The upload ended before it was complete. Nothing was stored.");
  }
  if (declaredLength !== null && Number(declaredLength) !== bytesReceived)
    throw new ServiceError("TRUNCATED_UPLOAD", "The upload ended before it was complete. Nothing was stored.");
}

function toFileResponse(file: UserFile, fullInfo: boolean): Response {
  return jsonResponse(fullInfo ? { ...file, modified: new Date(file.modified).toISOString() } : file.path);
}
