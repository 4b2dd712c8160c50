// Limits for an uploaded image, checked by its header before a pixel is decoded.

import { stat } from "node:fs/promises";
import { decodableHeader, ImageTooLarge } from "@/lib/shared/decode-image";
import { ServiceError } from "../service-error";
import { isRaster } from "./media-type";

export const MOST_IMAGE_BYTES = 50 * 1024 * 1024;
const LONGEST_EDGE = 16_384;
export const MOST_PIXELS = 67_108_864;

export type ImageFile = { path: string; mediaType: string; size: number };

/** The size as displayed: a photograph's orientation is taken into account. */
export async function requireImage(file: ImageFile): Promise<{ width: number; height: number }> {
  if (!isRaster(file.mediaType)) throw notAnImage();
  if (file.size > MOST_IMAGE_BYTES) throw tooHeavy();
  const { width, height } = await readSize(file.path);
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

async function readSize(path: string): Promise<{ width: number; height: number }> {
  try {
    return (await decodableHeader(path)).autoOrient;
  } catch (error) {
    if (error instanceof ImageTooLarge) throw new ServiceError("INVALID_IMAGE", error.message, { field: "image", ...error.size });
    if (await isMissing(path)) throw new ServiceError("NOT_FOUND", "The bytes of this file are missing from the store.");
    throw notAnImage(error);
  }
}

const isMissing = (path: string) =>
  stat(path).then(
    () => false,
    () => true,
  );

export function tooHeavy(): ServiceError {
  return new ServiceError("INVALID_IMAGE", "The image is larger than 50 MB.", { field: "image" });
}

function notAnImage(error?: unknown): ServiceError {
  const reason = error instanceof Error && { reason: error.message };
  return new ServiceError("INVALID_IMAGE", "The file is no image that this service can read.", { field: "image", ...reason });
}
