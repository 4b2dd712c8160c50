// Whether this browser can decode a picture. Only for kinds that every browser reads and that are easy to decode.

import { createLimiter } from "@/lib/shared/async";

const everywhere = /^image\/(png|jpeg|gif|webp|bmp)$/;
const MAX_BYTES = 64 * 1024 ** 2;
const MAX_PIXELS = 64 * 1024 ** 2;
const inTurn = createLimiter(1);

export function canBeRead(file: File): Promise<boolean | undefined> {
  if (!everywhere.test(file.type) || file.size > MAX_BYTES || typeof createImageBitmap !== "function") return Promise.resolve(undefined);
  return inTurn(() => decoded(file));
}

async function decoded(file: File): Promise<boolean | undefined> {
  const pixels = await pixelsOf(file);
  if (pixels === undefined) return false;
  if (pixels > MAX_PIXELS) return undefined;
  try {
    (await createImageBitmap(file, { resizeWidth: 1, resizeHeight: 1 })).close();
    return true;
  } catch {
    return false;
  }
}

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
