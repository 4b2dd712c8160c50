// From bytes of unknown content to a WebP of a given edge.
// Guarantees: the content decides the type; SVG, PDF and the like never reach a renderer, not even for their size; a picture over the pixel
// limit is refused from its header, before decoding; decoding time is bounded, and pictures that need much memory are decoded one at a
// time; the result is small, does not move, and says nothing of where it was taken.

import "server-only";
import { open } from "node:fs/promises";
import { fileTypeFromBuffer } from "file-type";
import sharp, { type Metadata } from "sharp";
import { createTurns } from "@/lib/shared/turns";

const MOST_PIXELS = 128 * 1024 ** 2;
const MOST_SECONDS = 15;
/** A picture that cannot be read in strips is held whole, at four bytes a pixel. */
const HEAVY_PIXELS = 24 * 1024 ** 2;
const heavy = createTurns(1);

/** As many bytes as the type detection reads. */
const HEAD_BYTES = 4100;
const types: ReadonlySet<string> = new Set([
  "image/jpeg",
  "image/png",
  "image/apng",
  "image/webp",
  "image/gif",
  "image/avif",
  // An AVIF with the general major brand.
  "image/heif",
]);
/** Both byte orders, plain and 64-bit. The type detection library needs a TIFF's directory, which mostly comes after the pixels. */
const tiffs: ReadonlySet<string> = new Set(["II*\0", "MM\0*", "II+\0", "MM\0+"]);
const formats = new Set(["jpeg", "png", "webp", "gif", "tiff", "heif"]);

/** `whole`: the whole picture. `fill`: for a box that crops, so that a banner or a column is not drawn from a strip of a few pixels. */
export const thumbnailFits = ["whole", "fill"] as const;
export type ThumbnailFit = (typeof thumbnailFits)[number];

/** A picture longer than this ratio is cropped here if it has to fill a box. */
const LONGEST_RATIO = 2;

type Made = {
  thumbnail: Uint8Array;
  /** The longer edge that the source needs, if this one is too small for its proportions. */
  wantedEdge?: number;
};

/** `signal`: no one waits any more; drawing that has not begun is skipped. */
type Wanted = { edge: number; fit?: ThumbnailFit; signal: AbortSignal };

/** A picture file's size in pixels; undefined for other files. Reads only the header, and of other files a few bytes. */
export async function pictureSize(path: string): Promise<{ width: number; height: number } | undefined> {
  if (!(await isPicture(await headOf(path)))) return undefined;
  try {
    const { format, width, height } = await sharp(path, { limitInputPixels: false, pages: 1 }).metadata();
    return formats.has(format) ? { width, height } : undefined;
  } catch {
    return undefined;
  }
}

async function headOf(path: string): Promise<Uint8Array> {
  const file = await open(path);
  try {
    const { buffer, bytesRead } = await file.read({ buffer: Buffer.alloc(HEAD_BYTES) });
    return buffer.subarray(0, bytesRead);
  } finally {
    await file.close();
  }
}

/** `unreadable`: these bytes can never be a picture here. Undefined: a picture that is not drawn, for example because it is too large. */
export async function toThumbnail(bytes: Uint8Array, { edge, fit = "whole", signal }: Wanted): Promise<Made | "unreadable" | undefined> {
  try {
    // Checked first, because the decoder would already load a vector drawing to identify it.
    if (!(await isPicture(bytes.subarray(0, HEAD_BYTES)))) return "unreadable";
    const image = sharp(bytes, { limitInputPixels: MOST_PIXELS, failOn: "error", pages: 1 }).timeout({ seconds: MOST_SECONDS });
    const metadata = await image.metadata();
    if (!formats.has(metadata.format)) return "unreadable";
    const { width, height } = metadata.autoOrient;
    const [longer, shorter] = [Math.max(width, height), Math.min(width, height)];
    const isCropped = fit === "fill" && longer > shorter * LONGEST_RATIO;
    if (longer <= edge && !isCropped && isThumbnail(bytes, metadata, edge)) return { thumbnail: bytes };
    const box = isCropped ? cropped(width, height, edge) : { width: edge, height: edge, fit: "inside" as const };
    const draw = async () => {
      if (signal.aborted) return undefined;
      return image
        .autoOrient()
        .resize({ ...box, withoutEnlargement: true })
        .webp({ quality: 80, effort: 2 })
        .toBuffer();
    };
    const thumbnail = await (width * height > HEAVY_PIXELS ? heavy(draw) : draw());
    if (!thumbnail) return undefined;
    const least = edge / LONGEST_RATIO;
    return { thumbnail, ...(isCropped && shorter < least && { wantedEdge: Math.ceil((least * longer) / Math.max(1, shorter)) }) };
  } catch (cause) {
    return cause instanceof Error && /pixel limit|timeout/.test(cause.message) ? undefined : "unreadable";
  }
}

async function isPicture(head: Uint8Array): Promise<boolean> {
  if (tiffs.has(Buffer.from(head.subarray(0, 4)).toString("latin1"))) return true;
  return types.has((await fileTypeFromBuffer(head))?.mime ?? "");
}

/** The service has made it small already: drawing it again would only blur it. If it may carry metadata, it is drawn anew. */
function isThumbnail(bytes: Uint8Array, { format, pages = 1, exif, xmp }: Metadata, edge: number): boolean {
  return format === "webp" && pages === 1 && !exif && !xmp && bytes.length <= edge ** 2 && isWholeWebp(bytes);
}

function isWholeWebp(bytes: Uint8Array): boolean {
  return bytes.length >= 12 && Buffer.from(bytes.buffer, bytes.byteOffset, 12).readUInt32LE(4) + 8 === bytes.length;
}

/** The middle of the picture, in the longest proportions that are kept; never enlarged. */
function cropped(width: number, height: number, edge: number) {
  const shorter = Math.min(width, height, Math.round(edge / LONGEST_RATIO));
  const longer = shorter * LONGEST_RATIO;
  return { ...(width > height ? { width: longer, height: shorter } : { width: shorter, height: longer }), fit: "cover" as const };
}
