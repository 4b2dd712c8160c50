// The mask that a file holds. The family's rule: painted is alpha 0. A layer without alpha is white where it is painted.
// Guarantees: alpha comes through byte for byte (a canvas rounds colours, never alpha); decoded in strips, so that a large picture needs
// no second copy of all its pixels. Runs where an OffscreenCanvas is.

import { type Coverage, emptyCoverage } from "../drawing/coverage";

/** Pixels drawn at a time. */
const STRIP = 4_000_000;

/** `picture`: only alpha counts, and a file that is wholly opaque holds no mask. */
export async function readCoverage(file: Blob, kind: "picture" | "layer"): Promise<Coverage | undefined> {
  const bitmap = await createImageBitmap(file, { colorSpaceConversion: "none" });
  try {
    const coverage = emptyCoverage(bitmap);
    const isOpaque = !readStrips(bitmap, coverage, (data, at) => 255 - (data[at + 3] ?? 255));
    if (!isOpaque) return coverage;
    if (kind === "picture") return undefined;
    readStrips(bitmap, coverage, (data, at) => data[at] ?? 0);
    return coverage;
  } finally {
    bitmap.close();
  }
}

/** True when any of it is painted. */
function readStrips(
  bitmap: ImageBitmap,
  { width, height, data }: Coverage,
  read: (data: Uint8ClampedArray, at: number) => number,
): boolean {
  const rows = Math.max(1, Math.min(height, Math.floor(STRIP / width)));
  const canvas = new OffscreenCanvas(width, rows);
  const context = canvas.getContext("2d", { willReadFrequently: true });
  if (!context) throw new Error("this browser gives no canvas");
  let isPainted = false;
  for (let top = 0; top < height; top += rows) {
    const count = Math.min(rows, height - top);
    context.clearRect(0, 0, width, rows);
    context.drawImage(bitmap, 0, top, width, count, 0, 0, width, count);
    const pixels = context.getImageData(0, 0, width, count).data;
    for (let at = 0, to = top * width; at < pixels.length; at += 4, to += 1) {
      const value = read(pixels, at);
      data[to] = value;
      isPainted ||= value > 0;
    }
  }
  return isPainted;
}
