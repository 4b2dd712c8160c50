// Resizes an image of any format to a small WebP without metadata.

import "server-only";
import { type Metadata } from "sharp";
import { drawThumbnail, ImageTooLargeError, readImageHeader, withImage } from "@/lib/shared/decode-image";

/** `whole` shows the full image. `fill` is for boxes that crop, so that a very long image isn't reduced to a thin strip. */
export const thumbnailFits = ["whole", "fill"] as const;
export type ThumbnailFit = (typeof thumbnailFits)[number];

const MAX_RATIO = 2;

type Size = { width: number; height: number };
type ResizedImage = {
  thumbnail: Uint8Array;
  /** The longer edge to request instead, if this source is too small for its proportions. */
  largerEdge?: number;
};

type ResizeTarget = { edge: number; fit?: ThumbnailFit; signal: AbortSignal };

/** Returns an image file's size in pixels, or undefined for other files. Reads only the header. */
export async function readImageSize(path: string): Promise<Size | undefined> {
  return readImageHeader(path).catch(() => undefined);
}

/** "unreadable": the bytes are not a supported image. Undefined: not rendered for another reason, such as a timeout. */
export async function renderThumbnail(
  bytes: Uint8Array,
  target: ResizeTarget,
): Promise<ResizedImage | { tooLarge: Size } | "unreadable" | undefined> {
  try {
    return await withImage(bytes, (header) => drawImage(bytes, header, target));
  } catch (cause) {
    if (cause instanceof ImageTooLargeError) return cause.size && { tooLarge: cause.size };
    return cause instanceof Error && cause.message.includes("timeout") ? undefined : "unreadable";
  }
}

async function drawImage(
  bytes: Uint8Array,
  header: Metadata,
  { edge, fit = "whole", signal }: ResizeTarget,
): Promise<ResizedImage | undefined> {
  const { width, height } = header.autoOrient;
  const [longEdge, shortEdge] = [Math.max(width, height), Math.min(width, height)];
  const isCropped = fit === "fill" && longEdge > shortEdge * MAX_RATIO;
  if (longEdge <= edge && !isCropped && isThumbnail(bytes, header, edge)) return { thumbnail: bytes };
  if (signal.aborted) return undefined;
  const box = isCropped ? getCropBox(width, height, edge) : { width: edge, height: edge, fit: "inside" as const };
  const thumbnail = await drawThumbnail(bytes, { ...box, withoutEnlargement: true }, "error");
  const minShortEdge = edge / MAX_RATIO;
  return {
    thumbnail,
    ...(isCropped && shortEdge < minShortEdge && { largerEdge: Math.ceil((minShortEdge * longEdge) / Math.max(1, shortEdge)) }),
  };
}

/** True if the service has already resized the image. Redrawing would blur it, and is only needed to remove metadata. */
function isThumbnail(bytes: Uint8Array, { format, pages = 1, exif, xmp }: Metadata, edge: number): boolean {
  return format === "webp" && pages === 1 && !exif && !xmp && bytes.length <= edge ** 2 && isCompleteWebp(bytes);
}

function isCompleteWebp(bytes: Uint8Array): boolean {
  return bytes.length >= 12 && Buffer.from(bytes.buffer, bytes.byteOffset, 12).readUInt32LE(4) + 8 === bytes.length;
}

function getCropBox(width: number, height: number, edge: number) {
  const shortEdge = Math.min(width, height, Math.round(edge / MAX_RATIO));
  const longEdge = shortEdge * MAX_RATIO;
  return { ...(width > height ? { width: longEdge, height: shortEdge } : { width: shortEdge, height: longEdge }), fit: "cover" as const };
}
