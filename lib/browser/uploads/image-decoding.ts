// Checks whether this browser can decode an image. Checks only formats that every browser supports.

import { createLimiter } from "@/lib/shared/async";

const supportedTypes = /^image\/(png|jpeg|gif|webp|bmp)$/;
const MAX_BYTES = 64 * 1024 ** 2;
const MAX_PIXELS = 64 * 1024 ** 2;
const limitDecoding = createLimiter(1);

export function canDecodeImage(file: File): Promise<boolean | undefined> {
  if (!supportedTypes.test(file.type) || file.size > MAX_BYTES || typeof createImageBitmap !== "function")
    return Promise.resolve(undefined);
  return limitDecoding(() => tryDecodeImage(file));
}

async function tryDecodeImage(file: File): Promise<boolean | undefined> {
  const size = await readDisplaySize(file);
  if (size === undefined) return false;
  if (size.width * size.height > MAX_PIXELS) return undefined;
  try {
    (await createImageBitmap(file, { resizeWidth: 1, resizeHeight: 1 })).close();
    return true;
  } catch {
    return false;
  }
}

/** Returns the displayed size, or undefined if the browser cannot read it. An <img> reads only the header until it is drawn. */
export function readDisplaySize(file: Blob): Promise<{ width: number; height: number } | undefined> {
  const url = URL.createObjectURL(file);
  const image = new Image();
  const size = new Promise<{ width: number; height: number } | undefined>((resolve) => {
    image.onload = () => resolve({ width: image.naturalWidth, height: image.naturalHeight });
    image.onerror = () => resolve(undefined);
  });
  image.src = url;
  return size.finally(() => URL.revokeObjectURL(url));
}
