import { operations } from "@/lib/contract/operations";
import { getFileName, type StoredAsset } from "../assets/asset-view";
import { type BlobStore, openFile } from "../assets/blob-store";
import { createAssetFromStaged } from "../assets/create-asset";
import { findAssetByName, findHashInName } from "../assets/file-names";
import { createImageTooLargeError, findMaskLayers, MAX_IMAGE_BYTES, requireImage, storeMask } from "../assets/mask-layers";
import { isImage, isRaster } from "../assets/media-type";
import { type WithFile } from "../assets/thumbnails";
import { ServiceError, toErrorBody } from "../service-error";
import { createInvalidRequestError } from "./read-json";
import { receiveUpload, type UploadCall } from "./read-upload";
import { defineRoute, jsonResponse, type Route, type RouteDependencies } from "./route";
import { sendBuffer, sendBytes } from "./send-bytes";

const DEFAULT_QUALITY = 90;

export function createFileRoutes(dependencies: RouteDependencies): Route[] {
  const { database } = dependencies;
  return [
    defineRoute(operations.uploadImage, async (call) => {
      const { user } = call;
      // Accepts any file, because ComfyUI's video, audio and latent loaders use this route too. Only images have limits.
      const upload = await receiveUpload(dependencies, call, dependencies.settings.maxUploadBytes);
      try {
        const { type, subfolder } = upload.fields;
        if (isRaster(upload.staged.mediaType)) await requireImage(upload.staged);
        const newAsset = { ownerId: user.id, name: upload.fileName, tags: ["input"], metadata: {} };
        const { asset } = await createAssetFromStaged(dependencies, upload.staged, newAsset);
        return jsonResponse({ name: getFileName(asset), display_name: asset.name, subfolder, type });
      } finally {
        await upload.staged.dispose();
      }
    }),

    defineRoute(operations.uploadMask, async (call) => {
      const { user } = call;
      const upload = await readMask(dependencies, call);
      try {
        const { subfolder, original_ref } = upload.fields;
        const original = await requireOriginalAsset(dependencies, user.id, original_ref);
        const { result, displayName, mask, paint, painted } = await storeMask(dependencies, user.id, upload.staged, original);
        const metadata = {
          is_mask: true,
          original_hash: getFileName(original),
          mask_type: "painted_masked",
          related_files: { mask, paint, painted },
        };
        return jsonResponse({ name: result, display_name: displayName, subfolder, type: "input", metadata });
      } finally {
        await upload.staged.dispose();
      }
    }),

    defineRoute(operations.getMaskLayers, async ({ query, user }) => {
      const { filename } = query();
      const asset = await findAssetByName(database, user.id, filename);
      const names = asset && (await findMaskLayers(database, user.id, getFileName(asset)));
      if (!names) throw new ServiceError("NOT_FOUND", "There is no mask with this name.");
      return jsonResponse({ mask: names.mask, paint: names.paint, painted: names.painted, painted_masked: names.result });
    }),

    defineRoute(operations.view, async ({ request, query, user }) => {
      const { filename, type, channel, res, preview } = query();
      const isAnnotated = type === "output" || type === "temp";
      const file = await findFile(dependencies, user.id, isAnnotated && !filename.endsWith("]") ? `${filename} [${type}]` : filename);
      if (!file) throw new ServiceError("NOT_FOUND", "There is no such file.");
      const { hash, media_type: mediaType, created_at: modifiedMs, withFile } = file;
      const cacheInfo = { modifiedMs, isImmutable: filename.includes(hash) };
      if (channel) {
        if (!isImage(mediaType)) throw new ServiceError("UNPROCESSABLE", "channel: only an image has channels.", { field: "channel" });
        const kind = channel === "rgb" ? "rgb" : "alpha";
        const fileInfo = { fileName: `${hash}-${kind}.png`, mediaType: "image/png" };
        return sendBuffer(request, await dependencies.thumbnails.drawChannel(withFile, kind), {
          ...fileInfo,
          ...cacheInfo,
          etag: `${hash}-${kind}`,
        });
      }
      if (res) {
        const { webp, isFromContent } = await dependencies.thumbnails.get(file, withFile, res);
        const fileInfo = {
          fileName: `${hash}-${res}.webp`,
          mediaType: "image/webp",
          etag: `${hash}-${res}${isFromContent ? "" : "-sign"}`,
        };
        return sendBuffer(request, webp, { ...fileInfo, ...cacheInfo, isImmutable: cacheInfo.isImmutable && isFromContent });
      }
      if (preview !== undefined && isRaster(mediaType)) {
        const format = /^jpeg\b/.test(preview) ? "jpeg" : "webp";
        const quality = Math.min(100, Math.max(1, Number(/;(\d{1,3})$/.exec(preview)?.[1] ?? DEFAULT_QUALITY)));
        const etag = `${hash}-${format}-${quality}`;
        const bytes = await dependencies.thumbnails.encode(withFile, format, quality);
        return sendBuffer(request, bytes, { fileName: `${hash}.${format}`, mediaType: `image/${format}`, ...cacheInfo, etag });
      }
      if (request.method === "GET") file.touch();
      return sendBytes(request, {
        open: file.open,
        storedSize: file.size,
        canRedirect: true,
        mediaType,
        etag: hash,
        fileName: file.name || getFileName(file),
        ...cacheInfo,
      });
    }),
  ];
}

async function findFile(dependencies: RouteDependencies, userId: number, name: string) {
  const storedFile = await findStoredFile(dependencies, userId, name);
  const hash = storedFile ? undefined : findHashInName(name);
  if (hash === undefined) return storedFile;
  const { liveRuns, blobs, now } = dependencies;
  const localFile = liveRuns.findLocalFile(userId, hash);
  if (localFile) {
    const { path, byteLength: size, mimeType: media_type, displayName } = localFile;
    const withFile: WithFile = (callback) => callback(path);
    return { hash, size, media_type, name: displayName, created_at: now(), withFile, open: () => openFile(path), touch: () => undefined };
  }
  const remoteFile = await liveRuns.findPeerFile(userId, hash);
  // The job may have ended while the other process was queried.
  if (!remoteFile) return findStoredFile(dependencies, userId, name);
  const { size, mediaType: media_type } = remoteFile;
  return { hash, size, media_type, name: remoteFile.name, created_at: now(), ...toBlobAccess(blobs, hash, size), touch: () => undefined };
}

async function findStoredFile({ database, blobs, accessTimes }: RouteDependencies, userId: number, name: string) {
  const asset = await findAssetByName(database, userId, name);
  return asset && { ...asset, ...toBlobAccess(blobs, asset.hash, asset.size), touch: () => accessTimes.touch(asset) };
}

function toBlobAccess(blobs: BlobStore, hash: string, size: number) {
  const withFile: WithFile = (callback) => blobs.withFiles([hash], (getPath) => callback(getPath(hash)));
  return { withFile, open: () => blobs.open(hash, size) };
}

/** Limits masks to 50 MB. Larger masks get 400 instead of 413, like any image that is too large. */
async function readMask(dependencies: RouteDependencies, call: UploadCall<typeof operations.uploadMask>) {
  const { maxUploadBytes } = dependencies.settings;
  try {
    return await receiveUpload(dependencies, call, Math.min(MAX_IMAGE_BYTES, maxUploadBytes));
  } catch (error) {
    if (toErrorBody(error)?.code !== "FILE_TOO_LARGE" || maxUploadBytes < MAX_IMAGE_BYTES) throw error;
    throw createImageTooLargeError();
  }
}

async function requireOriginalAsset(
  { database }: RouteDependencies,
  userId: number,
  { filename, type }: { filename: string; type?: string },
): Promise<StoredAsset> {
  const original = await findAssetByName(database, userId, type && !filename.endsWith("]") ? `${filename} [${type}]` : filename);
  if (!original) throw createInvalidRequestError("INVALID_BODY", [{ field: "original_ref", message: "must name one of your files" }]);
  return original;
}
