// The picture that a mask is drawn for, and its names at the service, most reliable first. The name is sent to POST /api/upload/mask as
// original_ref.

import { readFailure } from "@/lib/browser/read-answer";
import { type ApiFailure, toFailure } from "@/lib/browser/read-failure";
import { createViewUrl, type FileName } from "@/lib/browser/urls";
import { writeExactJson } from "@/lib/contract/json/exact-json";
import { asText } from "@/lib/contract/json/json";
import { type AssetView, getAssetFile } from "@/lib/contract/views/asset-view";
import { readPictureSize } from "@/lib/shared/picture-size";
import { failed, ok, type Result } from "@/lib/shared/result";
import { type Rect, type Size } from "../drawing/coverage";

/** A location of pictures and masks other than a connection's files. It stores no layers. */
export type MaskTarget = { getUrl: (file: FileName) => string; saveAt: `/${string}` };

export type MaskSource = {
  /** Identifies the picture, so that an unsaved drawing is found again. */
  key: string;
  title: string;
  files: readonly FileName[];
  connection?: string;
  target?: MaskTarget;
  /** Facts known before loading. */
  facts: {
    bytes?: number;
    width?: number;
    height?: number;
    isPicture?: boolean;
    /** The picture that an earlier mask was drawn over. */ original?: string;
  };
  /** The service applies masks to an original's pixels as stored, regardless of the camera's rotation. */
  keepsPixels?: boolean;
  /** Used for the preview, if the service does not serve files. */
  assetId?: string;
};

export function toAssetSource(asset: AssetView, connection?: string, keepsPixels = false): MaskSource {
  const { type } = getAssetFile({ ...asset, file: undefined });
  // The plain name is last, as another file may have it.
  const names = [asset.hash, asset.name].filter((value) => value !== undefined);
  const { sizeBytes, width, height, kind, metadata } = asset;
  return {
    key: `${connection ?? ""} asset ${asset.id}`,
    title: asset.name,
    files: [...(asset.file ? [asset.file] : []), ...names.map((filename) => ({ filename, subfolder: "", type }))],
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

export function toFileSource(file: Required<FileName>, title: string, connection?: string, keepsPixels = false): MaskSource {
  const { filename, subfolder, type } = file;
  return { key: `${connection ?? ""} file ${type} ${subfolder}/${filename}`, title, files: [file], connection, keepsPixels, facts: {} };
}

/** The URL of a file. */
export function getFileUrl({ connection, target }: Pick<MaskSource, "connection" | "target">, file: FileName): string {
  return target ? target.getUrl(file) : createViewUrl({ ...file, connection });
}

/** Sends known fields only; some services require a subfolder, even an empty one. */
export function originalRef({ filename, subfolder = "", type }: FileName): string {
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

/** Checks the available facts; undefined if none is too large. */
export function findSizeProblem({ bytes, width, height }: { bytes?: number } & Partial<Size>): TooLarge | undefined {
  if (bytes !== undefined && bytes > MAX_BYTES) return { reason: "bytes", bytes };
  if (width === undefined || height === undefined) return undefined;
  if (width > MAX_EDGE || height > MAX_EDGE) return { reason: "edge", width, height };
  return width * height > MAX_PIXELS ? { reason: "pixels", width, height } : undefined;
}

// Downloads a picture with progress. Never throws; never reads beyond the size limit.

const HEADER_BYTES = 32;

export type FetchRefusal = { kind: "too-large"; why: TooLarge } | { kind: "failed"; failure: ApiFailure };
export type FetchOptions = { signal?: AbortSignal; /** 0 to 1, if the length is known. */ onProgress?: (share: number) => void };

/** `address` includes the base path. */
export async function fetchFile(address: string, { signal, onProgress }: FetchOptions = {}): Promise<Result<Blob, FetchRefusal>> {
  const controller = new AbortController();
  const stop = () => controller.abort();
  signal?.addEventListener("abort", stop);
  try {
    const response = await fetch(address, { signal: controller.signal, credentials: "same-origin" });
    if (!response.ok)
      return failed({ kind: "failed", failure: readFailure(response.status, response.headers.get("retry-after"), await response.text()) });
    const contentLength = Number(response.headers.get("content-length") ?? 0);
    const reason = findSizeProblem({ bytes: contentLength });
    if (reason) {
      controller.abort();
      return failed({ kind: "too-large", why: reason });
    }
    return await readBody(response, contentLength, { stop, onProgress });
  } catch (cause) {
    return failed({ kind: "failed", failure: toFailure(cause) });
  } finally {
    signal?.removeEventListener("abort", stop);
  }
}

type Reading = { stop: () => void; onProgress?: (share: number) => void };

async function readBody(response: Response, contentLength: number, { stop, onProgress }: Reading): Promise<Result<Blob, FetchRefusal>> {
  const parts: Uint8Array<ArrayBuffer>[] = [];
  let bytes = 0;
  let isMeasured = false;
  for (const reader = response.body?.getReader(); reader;) {
    const { value, done } = await reader.read();
    if (done) break;
    bytes += value.length;
    if (bytes > MAX_BYTES) {
      stop();
      return failed({ kind: "too-large", why: { reason: "bytes", bytes } });
    }
    parts.push(value);
    // Checks the size in the header, to stop loading a picture that is too large.
    if (!isMeasured && bytes >= HEADER_BYTES) {
      isMeasured = true;
      const reason = findSizeProblem((await readPictureSize(new Uint8Array(await new Blob(parts).arrayBuffer()))) ?? {});
      if (reason) {
        stop();
        return failed({ kind: "too-large", why: reason });
      }
    }
    if (contentLength > 0) onProgress?.(bytes / contentLength);
  }
  return ok(new Blob(parts, { type: response.headers.get("content-type") ?? "" }));
}

// The picture under the mask: at full size if possible, otherwise scaled down, with full-resolution parts on demand. The size in the header is
// checked before anything is decoded.

export type ShownPicture = {
  bitmap: ImageBitmap;
  /** The size of the original; the bitmap may be smaller. */
  size: Size;
  /** Decodes a part in full resolution; absent if the bitmap is already full or a preview. */
  part?: (rect: Rect) => Promise<ImageBitmap>;
  close: () => void;
};

/** Phone browsers can decode this many pixels. Larger bitmaps are scaled to `SCALED_EDGE`. */
const MAX_DECODED_PIXELS = 24_000_000;
const SCALED_EDGE = 4_096;

/** Undefined if the file can't be decoded. */
export async function showPicture(file: Blob, size: Size, isPreview = false): Promise<ShownPicture | undefined> {
  const isWhole = isPreview || size.width * size.height <= MAX_DECODED_PIXELS;
  const scale = SCALED_EDGE / Math.max(size.width, size.height);
  const bitmap = await createImageBitmap(
    file,
    isWhole
      ? {}
      : {
          resizeWidth: Math.max(1, Math.round(size.width * scale)),
          resizeHeight: Math.max(1, Math.round(size.height * scale)),
          resizeQuality: "medium",
        },
  ).catch(() => undefined);
  if (!bitmap) return undefined;
  const part = ({ left, top, right, bottom }: Rect) => createImageBitmap(file, left, top, right - left, bottom - top);
  return { bitmap, size, close: () => bitmap.close(), ...(!isWhole && { part }) };
}
