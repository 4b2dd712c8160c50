// From bytes of unknown content to a WebP of a given edge.
// Guarantees: the type is judged by content; SVG, PDF and the like are never handed to a renderer; a picture of more pixels than the
// limit is refused from its header, before it is decoded.

import "server-only";
import sharp from "sharp";

const MOST_PIXELS = 128 * 1024 ** 2;
const formats = new Set(["jpeg", "png", "webp", "gif", "tiff", "heif"]);

/** `whole`: all of it. `fill`: for a box that crops, so that a banner or a column is not drawn from a strip of a few pixels. */
export const thumbnailFits = ["whole", "fill"] as const;
export type ThumbnailFit = (typeof thumbnailFits)[number];

/** Beyond this a picture that fills a box is cropped here. */
const LONGEST_RATIO = 2;

type Made = {
  thumbnail: Uint8Array;
  /** The longer edge that a source needs, where this one is too small for its proportions. */
  wantedEdge?: number;
};

/** `unreadable`: whatever happens, these bytes are no picture here. Undefined: one that is not opened, as of too many pixels. */
export async function toThumbnail(bytes: Uint8Array, edge: number, fit: ThumbnailFit = "whole"): Promise<Made | "unreadable" | undefined> {
  try {
    const image = sharp(bytes, { limitInputPixels: MOST_PIXELS, failOn: "error", pages: 1 });
    const { format, autoOrient } = await image.metadata();
    if (format === undefined || !formats.has(format)) return "unreadable";
    const { width, height } = autoOrient;
    const [longer, shorter] = [Math.max(width, height), Math.min(width, height)];
    const isCropped = fit === "fill" && longer > shorter * LONGEST_RATIO;
    if (format === "webp" && longer <= edge && !isCropped) return { thumbnail: bytes };
    const box = isCropped ? cropped(width, height, edge) : { width: edge, height: edge, fit: "inside" as const };
    const thumbnail = await image
      .autoOrient()
      .resize({ ...box, withoutEnlargement: true })
      .webp({ quality: 80 })
      .toBuffer();
    const least = edge / LONGEST_RATIO;
    return { thumbnail, ...(isCropped && shorter < least && { wantedEdge: Math.ceil((least * longer) / Math.max(1, shorter)) }) };
  } catch (cause) {
    return cause instanceof Error && cause.message.includes("pixel limit") ? undefined : "unreadable";
  }
}

/** The middle of it, in the longest proportions that are kept; never larger than it is. */
function cropped(width: number, height: number, edge: number) {
  const shorter = Math.min(width, height, Math.round(edge / LONGEST_RATIO));
  const longer = shorter * LONGEST_RATIO;
  return { ...(width > height ? { width: longer, height: shorter } : { width: shorter, height: longer }), fit: "cover" as const };
}
