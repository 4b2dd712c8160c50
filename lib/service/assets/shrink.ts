// A picture of a given edge out of a picture of any size: upright, the first frame, WebP.
// Guarantees: what the file is, its bytes say; its size is judged from the header, before a pixel is decoded; it takes bounded time.
// Must never hand a drawing or a document (SVG, PDF) to a renderer.

import sharp from "sharp";
import { ServiceError } from "../service-error";
import { MOST_PIXELS } from "./image-limits";

const formats = new Set(["jpeg", "png", "webp", "gif", "tiff", "heif"]);
const MOST_SECONDS = 20;

/** The longer edge of the result is exactly `edge`. */
export async function shrink(source: string | Uint8Array, edge: number, background?: string): Promise<Buffer> {
  try {
    const image = sharp(source, { limitInputPixels: MOST_PIXELS, failOn: "truncated", pages: 1 });
    const { format } = await image.metadata();
    if (!formats.has(format)) throw new Error(`${format} is not shown`);
    const upright = image.timeout({ seconds: MOST_SECONDS }).autoOrient().resize({ width: edge, height: edge, fit: "inside" });
    return await (background === undefined ? upright : upright.flatten({ background })).webp({ quality: 80, effort: 2 }).toBuffer();
  } catch (error) {
    throw new ServiceError("UNPROCESSABLE", "No preview can be made of this file.", error instanceof Error ? error.message : undefined);
  }
}
