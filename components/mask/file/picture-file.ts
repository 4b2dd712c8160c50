// The picture that a mask is drawn for, and its names at the service.
// Guarantees: pure; the most reliable name is first. It is sent to POST /api/upload/mask as original_ref.

import { readFailure } from "@/lib/browser/read-answer";
import { type ApiFailure, toFailure } from "@/lib/browser/read-failure";
import { createViewUrl, type FileName } from "@/lib/browser/urls";
import { writeExactJson } from "@/lib/contract/json/exact-json";
import { textOf } from "@/lib/contract/json/json";
import { type AssetView, getAssetFile } from "@/lib/contract/views/asset-view";
import { readPictureSize } from "@/lib/shared/picture-size";
import { failed, ok, type Result } from "@/lib/shared/result";
import { type Rect, type Size } from "../drawing/geometry";

/** A location of pictures and masks other than a connection's files. It stores no layers. */
export type MaskTarget = { urlOf: (file: FileName) => string; saveAt: `/${string}` };

export type MaskSource = {
  /** The same for the same picture, so that an unsaved drawing is found again. */
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
  /** For the preview, if the service does not hand out files. */
  assetId?: string;
};

export function sourceOfAsset(asset: AssetView, connection?: string, keepsPixels = false): MaskSource {
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
      original: textOf(metadata.original_hash),
    },
    keepsPixels,
    assetId: asset.id,
  };
}

export function sourceOfFile(file: Required<FileName>, title: string, connection?: string, keepsPixels = false): MaskSource {
  const { filename, subfolder, type } = file;
  return { key: `${connection ?? ""} file ${type} ${subfolder}/${filename}`, title, files: [file], connection, keepsPixels, facts: {} };
}

/** The address as a page requests it, with a query. */
export function addressOf({ connection, target }: Pick<MaskSource, "connection" | "target">, file: FileName): string {
  return target ? target.urlOf(file) : createViewUrl({ ...file, connection });
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
export function tooLarge({ bytes, width, height }: { bytes?: number } & Partial<Size>): TooLarge | undefined {
  if (bytes !== undefined && bytes > MAX_BYTES) return { reason: "bytes", bytes };
  if (width === undefined || height === undefined) return undefined;
  if (width > MAX_EDGE || height > MAX_EDGE) return { reason: "edge", width, height };
  return width * height > MAX_PIXELS ? { reason: "pixels", width, height } : undefined;
}

// A picture's bytes from the service, with progress.
// Guarantees: never throws; never reads beyond the limit; aborting `signal` ends the transfer.

const HEADER_BYTES = 32;

export type FetchRefusal = { kind: "too-large"; why: TooLarge } | { kind: "failed"; failure: ApiFailure };
export type FetchOptions = { signal?: AbortSignal; /** 0 to 1, if the length is known. */ onProgress?: (share: number) => void };

/** `address`: as a page would request it, with the base path. */
export async function fetchFile(address: string, { signal, onProgress }: FetchOptions = {}): Promise<Result<Blob, FetchRefusal>> {
  const controller = new AbortController();
  const stop = () => controller.abort();
  signal?.addEventListener("abort", stop);
  try {
    const response = await fetch(address, { signal: controller.signal, credentials: "same-origin" });
    if (!response.ok)
      return failed({ kind: "failed", failure: readFailure(response.status, response.headers.get("retry-after"), await response.text()) });
    const contentLength = Number(response.headers.get("content-length") ?? 0);
    const reason = tooLarge({ bytes: contentLength });
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
    // Read from the header, so that a picture that is too large is not loaded further.
    if (!isMeasured && bytes >= HEADER_BYTES) {
      isMeasured = true;
      const reason = tooLarge((await readPictureSize(new Uint8Array(await new Blob(parts).arrayBuffer()))) ?? {});
      if (reason) {
        stop();
        return failed({ kind: "too-large", why: reason });
      }
    }
    if (contentLength > 0) onProgress?.(bytes / contentLength);
  }
  return ok(new Blob(parts, { type: response.headers.get("content-type") ?? "" }));
}

// The picture under the mask as the browser draws it: whole if of ordinary size, otherwise scaled down, with full parts on demand.
// Guarantees: its natural size is read from the header alone, turned as its camera noted; nothing is decoded before its size is checked.

export type ShownPicture = {
  bitmap: ImageBitmap;
  /** Of the original: the bitmap may be smaller. */
  size: Size;
  /** A part in full resolution; absent where the bitmap is full already, or no more is available. */
  part?: (rect: Rect) => Promise<ImageBitmap>;
  close: () => void;
};

/** A phone's browser handles this many pixels without errors; beyond it, the bitmap is scaled to `SCALED_EDGE`. */
const MAX_WHOLE = 24_000_000;
const SCALED_EDGE = 4_096;

/** Undefined if its pixels cannot be decoded. */
export async function showPicture(file: Blob, size: Size, isPreview = false): Promise<ShownPicture | undefined> {
  const isWhole = isPreview || size.width * size.height <= MAX_WHOLE;
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
