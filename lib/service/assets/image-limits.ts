// What an uploaded image may be: judged from its header, before a pixel is decoded.

import sharp from "sharp";
import { ServiceError } from "../service-error";
import { isImage } from "./media-type";

export const MOST_IMAGE_BYTES = 50 * 1024 * 1024;
const LONGEST_EDGE = 16_384;
export const MOST_PIXELS = 67_108_864;

/** The size as it is shown: a photograph's orientation is taken into account. */
export async function requireImage(file: { path: string; mediaType: string }): Promise<{ width: number; height: number }> {
  if (!isImage(file.mediaType)) throw notAnImage();
  let width: number;
  let height: number;
  try {
    ({ width, height } = (await sharp(file.path, { limitInputPixels: false }).metadata()).autoOrient);
  } catch {
    throw notAnImage();
  }
  if (width > LONGEST_EDGE || height > LONGEST_EDGE) {
    throw new ServiceError("INVALID_IMAGE", `The image is ${width} by ${height} pixels; an edge has at most ${LONGEST_EDGE}.`, {
      width,
      height,
    });
  }
  if (width * height > MOST_PIXELS) {
    throw new ServiceError("INVALID_IMAGE", `The image has ${width * height} pixels; at most ${MOST_PIXELS} are taken.`, { width, height });
  }
  return { width, height };
}

function notAnImage(): ServiceError {
  return new ServiceError("INVALID_IMAGE", "The file is no image that this service can read.", { field: "image" });
}
