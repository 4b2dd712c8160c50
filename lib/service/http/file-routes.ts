import { operations } from "@/lib/contract/operations";
import { getFileName, type StoredAsset } from "../assets/asset-view";
import { type BlobStore, openFile } from "../assets/blob-store";
import { createFromStaged } from "../assets/create-asset";
import { findByName, findHashInName } from "../assets/file-names";
import { findMaskLayers, imageTooLarge, MAX_IMAGE_BYTES, requireImage, storeMask } from "../assets/mask-layers";
import { isImage, isRaster } from "../assets/media-type";
import { type WithFile } from "../assets/thumbnails";
import { ServiceError, toRefusal } from "../service-error";
import { invalidRequest } from "./read-json";
import { receiveUpload, type UploadCall } from "./read-upload";
import { jsonResponse, type Route, route, type RouteDependencies } from "./route";
import { sendBuffer, sendBytes } from "./send-bytes";

const DEFAULT_QUALITY = 90;

export function fileRoutes(parts: RouteDependencies): Route[] {
  const { database } = parts;
  return [
    route(operations.uploadImage, async (call) => {
      const { user } = call;
      // Any file, because ComfyUI's video, audio and latent loaders use this route too. Only images have limits.
      const upload = await receiveUpload(parts, call, parts.settings.maxUploadBytes);
      try {
        const { type, subfolder } = upload.fields;
        if (isRaster(upload.staged.mediaType)) await requireImage(upload.staged);
        const newAsset = { ownerId: user.id, name: upload.fileName, tags: ["input"], metadata: {} };
        const { asset } = await createFromStaged(parts, upload.staged, newAsset);
        return jsonResponse({ name: getFileName(asset), display_name: asset.name, subfolder, type });
      } finally {
        await upload.staged.dispose();
      }
    }),

    route(operations.uploadMask, async (call) => {
      const { user } = call;
      const upload = await readMask(parts, call);
      try {
        const { subfolder, original_ref } = upload.fields;
        const original = await requireOriginal(parts, user.id, original_ref);
        const { result, displayName, mask, paint, painted } = await storeMask(parts, user.id, upload.staged, original);
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

    route(operations.getMaskLayers, async ({ query, user }) => {
      const { filename } = query();
      const asset = await findByName(database, user.id, filename);
      const names = asset && (await findMaskLayers(database, user.id, getFileName(asset)));
      if (!names) throw new ServiceError("NOT_FOUND", "There is no mask of this name.");
      return jsonResponse({ mask: names.mask, paint: names.paint, painted: names.painted, painted_masked: names.result });
    }),

    route(operations.view, async ({ request, query, user }) => {
      const { filename, type, channel, res, preview } = query();
      const isAnnotated = type === "output" || type === "temp";
      const file = await findFile(parts, user.id, isAnnotated && !filename.endsWith("]") ? `${filename} [${type}]` : filename);
      if (!file) throw new ServiceError("NOT_FOUND", "There is no such file.");
      const { hash, media_type: mediaType, created_at: modifiedMs, inFile } = file;
      const caching = { modifiedMs, immutable: filename.includes(hash) };
      if (channel) {
        if (!isImage(mediaType)) throw new ServiceError("UNPROCESSABLE", "channel: only an image has channels.", { field: "channel" });
        const kind = channel === "rgb" ? "rgb" : "alpha";
        const fileInfo = { fileName: `${hash}-${kind}.png`, mediaType: "image/png" };
        return sendBuffer(request, await parts.thumbnails.channel(inFile, kind), { ...fileInfo, ...caching, etag: `${hash}-${kind}` });
      }
      if (res) {
        const { webp, isOwn } = await parts.thumbnails.get(file, inFile, res);
        const fileInfo = { fileName: `${hash}-${res}.webp`, mediaType: "image/webp", etag: `${hash}-${res}${isOwn ? "" : "-sign"}` };
        return sendBuffer(request, webp, { ...fileInfo, ...caching, immutable: caching.immutable && isOwn });
      }
      if (preview !== undefined && isRaster(mediaType)) {
        const format = /^jpeg\b/.test(preview) ? "jpeg" : "webp";
        const quality = Math.min(100, Math.max(1, Number(/;(\d{1,3})$/.exec(preview)?.[1] ?? DEFAULT_QUALITY)));
        const etag = `${hash}-${format}-${quality}`;
        const bytes = await parts.thumbnails.encode(inFile, format, quality);
        return sendBuffer(request, bytes, { fileName: `${hash}.${format}`, mediaType: `image/${format}`, ...caching, etag });
      }
      if (request.method === "GET") file.touch();
      return sendBytes(request, {
        open: file.open,
        storedSize: file.size,
        mayRedirect: true,
        mediaType,
        etag: hash,
        fileName: file.name || getFileName(file),
        ...caching,
      });
    }),
  ];
}

async function findFile(parts: RouteDependencies, userId: number, name: string) {
  const storedFile = await findStoredFile(parts, userId, name);
  const hash = storedFile ? undefined : findHashInName(name);
  if (hash === undefined) return storedFile;
  const { liveRuns, blobs, now } = parts;
  const localFile = liveRuns.fileHere(userId, hash);
  if (localFile) {
    const { path, byteLength: size, mimeType: media_type, displayName } = localFile;
    const inFile: WithFile = (use) => use(path);
    return { hash, size, media_type, name: displayName, created_at: now(), inFile, open: () => openFile(path), touch: () => undefined };
  }
  const remoteFile = await liveRuns.fileElsewhere(userId, hash);
  // The job may have ended while the other process was queried.
  if (!remoteFile) return findStoredFile(parts, userId, name);
  const { size, mediaType: media_type } = remoteFile;
  return { hash, size, media_type, name: remoteFile.name, created_at: now(), ...toBlobAccess(blobs, hash, size), touch: () => undefined };
}

async function findStoredFile({ database, blobs, accessTimes }: RouteDependencies, userId: number, name: string) {
  const asset = await findByName(database, userId, name);
  return asset && { ...asset, ...toBlobAccess(blobs, asset.hash, asset.size), touch: () => accessTimes.touch(asset) };
}

function toBlobAccess(blobs: BlobStore, hash: string, size: number) {
  const inFile: WithFile = (use) => blobs.withFiles([hash], (pathOf) => use(pathOf(hash)));
  return { inFile, open: () => blobs.open(hash, size) };
}

/** A mask has at most 50 MB. Beyond that the response is 400, as for any image that is too large, not 413. */
async function readMask(parts: RouteDependencies, call: UploadCall<typeof operations.uploadMask>) {
  const { maxUploadBytes } = parts.settings;
  try {
    return await receiveUpload(parts, call, Math.min(MAX_IMAGE_BYTES, maxUploadBytes));
  } catch (error) {
    if (toRefusal(error)?.code !== "FILE_TOO_LARGE" || maxUploadBytes < MAX_IMAGE_BYTES) throw error;
    throw imageTooLarge();
  }
}

async function requireOriginal(
  { database }: RouteDependencies,
  userId: number,
  { filename, type }: { filename: string; type?: string },
): Promise<StoredAsset> {
  const original = await findByName(database, userId, type && !filename.endsWith("]") ? `${filename} [${type}]` : filename);
  if (!original) throw invalidRequest("INVALID_BODY", [{ field: "original_ref", message: "names no file of yours" }]);
  return original;
}
