// The picture under the mask as the browser draws it: whole if of ordinary size, otherwise scaled down, with full parts on demand.
// Guarantees: its natural size is read from the header alone, turned as its camera noted; nothing is decoded before its size is checked.

import { type Rect, type Size } from "../drawing/geometry";

export type ShownPicture = {
  bitmap: ImageBitmap;
  /** Of the original: the bitmap may be smaller. */
  size: Size;
  /** A part in full resolution; absent where the bitmap is full already, or no more is available. */
  part?: (rect: Rect) => Promise<ImageBitmap>;
  close: () => void;
};

/** A phone's browser handles this many pixels without errors; beyond it, the bitmap is scaled to `SCALED_EDGE`. */
const MOST_WHOLE = 24_000_000;
const SCALED_EDGE = 4_096;

/** The size as shown; undefined if the browser cannot read it. An <img> reads only the header until it is drawn. */
export function naturalSize(file: Blob): Promise<Size | undefined> {
  const url = URL.createObjectURL(file);
  return new Promise<Size | undefined>((resolve) => {
    const image = new Image();
    image.onload = () => resolve({ width: image.naturalWidth, height: image.naturalHeight });
    image.onerror = () => resolve(undefined);
    image.src = url;
  }).finally(() => URL.revokeObjectURL(url));
}

/** Undefined if its pixels cannot be decoded, whatever its header says. */
export async function showPicture(file: Blob, size: Size, isPreview = false): Promise<ShownPicture | undefined> {
  const isWhole = isPreview || size.width * size.height <= MOST_WHOLE;
  const scale = SCALED_EDGE / Math.max(size.width, size.height);
  const bitmap = await createImageBitmap(
    file,
    isWhole
      ? {}
      : {
          resizeWidth: Math.max(1, Math.round(size.width * scale)),
          resizeHeight: Math.max(1, Math.round(size.height * scale)),
          resizeQuality: "medium",
        },
  ).catch(() => undefined);
  if (!bitmap) return undefined;
  const part = ({ left, top, right, bottom }: Rect) => createImageBitmap(file, left, top, right - left, bottom - top);
  return { bitmap, size, close: () => bitmap.close(), ...(!isWhole && { part }) };
}
