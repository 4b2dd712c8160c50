// The image that a mask is drawn for, and its names in the service, most reliable first. The name is sent to POST /api/upload/mask as
// original_ref.

import { type ApiFailure, toFailure } from "@/lib/browser/api-failure";
import { parseFailureResponse } from "@/lib/browser/parse-response";
import { createViewUrl, type FileReference } from "@/lib/browser/urls";
import { writeExactJson } from "@/lib/contract/json/exact-json";
import { asText } from "@/lib/contract/json/json";
import { type AssetView, getAssetFile } from "@/lib/contract/views/asset-view";
import { readImageSize } from "@/lib/shared/image-size";
import { failed, ok, type Result } from "@/lib/shared/result";
import { type Rect, type Size } from "../drawing/coverage";

/** A location for images and masks outside a connection's files. It does not store layers. */
export type MaskTarget = { getUrl: (file: FileReference) => string; savePath: `/${string}` };

export type MaskSource = {
  /** Identifies the image, to restore an unsaved drawing. */
  key: string;
  title: string;
  files: readonly FileReference[];
  connection?: string;
  target?: MaskTarget;
  /** Metadata available before loading. */
  facts: {
    bytes?: number;
    width?: number;
    height?: number;
    isPicture?: boolean;
    /** The image that an earlier mask was drawn over. */ original?: string;
  };
  /** Whether the service applies masks to the pixels as stored, regardless of the EXIF rotation. */
  keepsPixels?: boolean;
  /** Used for the preview, if the service does not serve files. */
  assetId?: string;
};

export function toAssetSource(asset: AssetView, connection?: string, keepsPixels = false): MaskSource {
  const { type } = getAssetFile({ ...asset, file: undefined });
  // The plain name is last, because another file may have the same name.
  const filenames = [asset.hash, asset.name].filter((value) => value !== undefined);
  const { sizeBytes, width, height, kind, metadata } = asset;
  return {
    key: `${connection ?? ""} asset ${asset.id}`,
    title: asset.name,
    files: [...(asset.file ? [asset.file] : []), ...filenames.map((filename) => ({ filename, subfolder: "", type }))],
    connection,
    facts: {
      bytes: sizeBytes,
      width,
      height,
      isPicture: kind === "image" && !/\.svg$/i.test(asset.name),
      original: asText(metadata.original_hash),
    },
    keepsPixels,
    assetId: asset.id,
  };
}

export function toFileSource(file: Required<FileReference>, title: string, connection?: string, keepsPixels = false): MaskSource {
  const { filename, subfolder, type } = file;
  return { key: `${connection ?? ""} file ${type} ${subfolder}/${filename}`, title, files: [file], connection, keepsPixels, facts: {} };
}

/** The URL of a file. */
export function getFileUrl({ connection, target }: Pick<MaskSource, "connection" | "target">, file: FileReference): string {
  return target ? target.getUrl(file) : createViewUrl({ ...file, connection });
}

/** Serializes only the known fields. Some services require a subfolder, even an empty one. */
export function toOriginalRef({ filename, subfolder = "", type }: FileReference): string {
  return writeExactJson({ filename, subfolder, ...(type && { type }) });
}

// The service's requirements for a mask and its original, checked before loading anything large.

export const MAX_BYTES = 50 * 1024 * 1024;
export const MAX_EDGE = 16_384;
export const MAX_PIXELS = 67_108_864;

export type TooLarge =
  | { reason: "bytes"; bytes: number }
  | { reason: "edge"; width: number; height: number }
  | { reason: "pixels"; width: number; height: number };

/** Returns the first limit that the file exceeds, if any. */
export function findSizeProblem({ bytes, width, height }: { bytes?: number } & Partial<Size>): TooLarge | undefined {
  if (bytes !== undefined && bytes > MAX_BYTES) return { reason: "bytes", bytes };
  if (width === undefined || height === undefined) return undefined;
  if (width > MAX_EDGE || height > MAX_EDGE) return { reason: "edge", width, height };
  return width * height > MAX_PIXELS ? { reason: "pixels", width, height } : undefined;
}

// Downloads an image with progress. Never throws, and never reads beyond the size limit.

const HEADER_BYTES = 32;

export type FetchError = { kind: "too-large"; why: TooLarge } | { kind: "failed"; failure: ApiFailure };
export type FetchOptions = {
  signal?: AbortSignal;
  /** Receives values from 0 to 1, if the length is known. */ onProgress?: (share: number) => void;
};

/** `url` includes the base path. */
export async function fetchFile(url: string, { signal, onProgress }: FetchOptions = {}): Promise<Result<Blob, FetchError>> {
  const controller = new AbortController();
  const abort = () => controller.abort();
  signal?.addEventListener("abort", abort);
  try {
    const response = await fetch(url, { signal: controller.signal, credentials: "same-origin" });
    if (!response.ok)
      return failed({
        kind: "failed",
        failure: parseFailureResponse(response.status, response.headers.get("retry-after"), await response.text()),
      });
    const contentLength = Number(response.headers.get("content-length") ?? 0);
    const reason = findSizeProblem({ bytes: contentLength });
    if (reason) {
      controller.abort();
      return failed({ kind: "too-large", why: reason });
    }
    return await readBody(response, contentLength, { stop: abort, onProgress });
  } catch (cause) {
    return failed({ kind: "failed", failure: toFailure(cause) });
  } finally {
    signal?.removeEventListener("abort", abort);
  }
}

type ReadOptions = { stop: () => void; onProgress?: (share: number) => void };

async function readBody(response: Response, contentLength: number, { stop, onProgress }: ReadOptions): Promise<Result<Blob, FetchError>> {
  const parts: Uint8Array<ArrayBuffer>[] = [];
  let bytes = 0;
  let isSizeChecked = false;
  for (const reader = response.body?.getReader(); reader;) {
    const { value, done } = await reader.read();
    if (done) break;
    bytes += value.length;
    if (bytes > MAX_BYTES) {
      stop();
      return failed({ kind: "too-large", why: { reason: "bytes", bytes } });
    }
    parts.push(value);
    // Checks the size in the header, to stop loading an image that is too large.
    if (!isSizeChecked && bytes >= HEADER_BYTES) {
      isSizeChecked = true;
      const reason = findSizeProblem((await readImageSize(new Uint8Array(await new Blob(parts).arrayBuffer()))) ?? {});
      if (reason) {
        stop();
        return failed({ kind: "too-large", why: reason });
      }
    }
    if (contentLength > 0) onProgress?.(bytes / contentLength);
  }
  return ok(new Blob(parts, { type: response.headers.get("content-type") ?? "" }));
}

// Decodes the image under the mask: at full size if possible, otherwise scaled down, with full-resolution parts on demand. The size in the header
// is checked before decoding.

export type DisplayedImage = {
  bitmap: ImageBitmap;
  /** The size of the original. The bitmap may be smaller. */
  size: Size;
  /** Decodes a part in full resolution. Absent if the bitmap has full resolution or is a preview. */
  part?: (rect: Rect) => Promise<ImageBitmap>;
  close: () => void;
};

/** The number of pixels that phone browsers can decode. Larger bitmaps are scaled to `SCALED_EDGE`. */
const MAX_DECODED_PIXELS = 24_000_000;
const SCALED_EDGE = 4_096;

/** Undefined if the file can't be decoded. */
export async function decodeImage(file: Blob, size: Size, isPreview = false): Promise<DisplayedImage | undefined> {
  const isFullSize = isPreview || size.width * size.height <= MAX_DECODED_PIXELS;
  const scale = SCALED_EDGE / Math.max(size.width, size.height);
  const bitmap = await createImageBitmap(
    file,
    isFullSize
      ? {}
      : {
          resizeWidth: Math.max(1, Math.round(size.width * scale)),
          resizeHeight: Math.max(1, Math.round(size.height * scale)),
          resizeQuality: "medium",
        },
  ).catch(() => undefined);
  if (!bitmap) return undefined;
  const part = ({ left, top, right, bottom }: Rect) => createImageBitmap(file, left, top, right - left, bottom - top);
  return { bitmap, size, close: () => bitmap.close(), ...(!isFullSize && { part }) };
}
