// What a service accepts as a mask and as its original: checked before anything large is opened.

import { type Size } from "../drawing/geometry";

export const MOST_BYTES = 50 * 1024 * 1024;
export const LONGEST_EDGE = 16_384;
export const MAX_PIXELS = 67_108_864;

export type TooLarge =
  | { reason: "bytes"; bytes: number }
  | { reason: "edge"; width: number; height: number }
  | { reason: "pixels"; width: number; height: number };

/** Checks what is known; undefined if nothing known is too large. */
export function tooLarge({ bytes, width, height }: { bytes?: number } & Partial<Size>): TooLarge | undefined {
  if (bytes !== undefined && bytes > MOST_BYTES) return { reason: "bytes", bytes };
  if (width === undefined || height === undefined) return undefined;
  if (width > LONGEST_EDGE || height > LONGEST_EDGE) return { reason: "edge", width, height };
  return width * height > MAX_PIXELS ? { reason: "pixels", width, height } : undefined;
}
