// How much of each pixel is painted: one byte per pixel, from 0 (not at all) to 255 (fully). The saved file's alpha is 255 minus it.

import { type Rect, type Size } from "./geometry";

export type Coverage = Size & { data: Uint8Array<ArrayBuffer> };

export function emptyCoverage({ width, height }: Size): Coverage {
  return { width, height, data: new Uint8Array(width * height) };
}

/** a * b / 255, rounded, for bytes. */
function scaled(a: number, b: number): number {
  const product = a * b + 128;
  return (product + (product >> 8)) >> 8;
}

/** The new value of a pixel when `amount` is painted over it, or erased from it. */
export function painted(before: number, amount: number, isErasing: boolean): number {
  return isErasing ? scaled(before, 255 - amount) : before + scaled(255 - before, amount);
}

/** Rows `top` to `bottom`, four pixels at once. */
export function invertRows({ data, width }: Coverage, top: number, bottom: number): void {
  const [from, to] = [top * width, bottom * width];
  const firstWord = Math.min(to, Math.ceil(from / 4) * 4);
  const lastWord = Math.max(firstWord, Math.floor(to / 4) * 4);
  const words = new Uint32Array(data.buffer, data.byteOffset + firstWord, (lastWord - firstWord) >> 2);
  for (let at = 0; at < words.length; at += 1) words[at] = ~(words[at] ?? 0);
  for (let at = from; at < firstWord; at += 1) data[at] = 255 - (data[at] ?? 0);
  for (let at = lastWord; at < to; at += 1) data[at] = 255 - (data[at] ?? 0);
}

export function isWholly({ data, width }: Coverage, { left, top, right, bottom }: Rect, value: number): boolean {
  for (let y = top; y < bottom; y += 1) {
    for (let at = y * width + left; at < y * width + right; at += 1) if (data[at] !== value) return false;
  }
  return true;
}
