// From bytes of unknown content to a WebP of a given edge.
// Guarantees: the type is judged by content; SVG, PDF and the like are never handed to a renderer; a picture of more pixels than the
// limit is refused from its header, before it is decoded.

import "server-only";
import sharp from "sharp";

const MOST_PIXELS = 128 * 1024 ** 2;
const formats = new Set(["jpeg", "png", "webp", "gif", "tiff", "heif"]);

/** Undefined: no picture that a thumbnail can be made of. */
export async function toThumbnail(bytes: Uint8Array, edge: number): Promise<Uint8Array | undefined> {
  try {
    const image = sharp(bytes, { limitInputPixels: MOST_PIXELS, failOn: "error", pages: 1 });
    const { format, width, height } = await image.metadata();
    if (format === undefined || !formats.has(format)) return undefined;
    if (format === "webp" && Math.max(width, height) <= edge) return bytes;
    return await image
      .rotate()
      .resize({ width: edge, height: edge, fit: "inside", withoutEnlargement: true })
      .webp({ quality: 80 })
      .toBuffer();
  } catch {
    return undefined;
  }
}
