// Whether a file that calls itself a picture can be read as one, by this browser's own decoder.
// Guarantees: says "no" only of kinds that every browser reads, and of pictures that are no burden to decode; one is decoded at a time, away
// from the page's own thread.
// Must never: keep a picture, or keep a file from being stored. A worker or a test without a decoder says nothing.

import { createTurns } from "@/lib/shared/turns";

const everywhere = /^image\/(png|jpeg|gif|webp|bmp)$/;
const MOST_BYTES = 64 * 1024 ** 2;
const MOST_PIXELS = 64 * 1024 ** 2;
const inTurn = createTurns(1);

/** Undefined: no picture, or one that is not judged here. */
export function canBeRead(file: File): Promise<boolean | undefined> {
  if (!everywhere.test(file.type) || file.size > MOST_BYTES || typeof createImageBitmap !== "function") return Promise.resolve(undefined);
  return inTurn(() => decoded(file));
}

async function decoded(file: File): Promise<boolean | undefined> {
  const pixels = await pixelsOf(file);
  if (pixels === undefined) return false;
  if (pixels > MOST_PIXELS) return undefined;
  try {
    (await createImageBitmap(file, { resizeWidth: 1, resizeHeight: 1 })).close();
    return true;
  } catch {
    return false;
  }
}

/** From its header; undefined where there is none. */
function pixelsOf(file: File): Promise<number | undefined> {
  const address = URL.createObjectURL(file);
  const image = new Image();
  const size = new Promise<number | undefined>((resolve) => {
    image.onload = () => resolve(image.naturalWidth * image.naturalHeight);
    image.onerror = () => resolve(undefined);
  });
  image.src = address;
  return size.finally(() => URL.revokeObjectURL(address));
}
