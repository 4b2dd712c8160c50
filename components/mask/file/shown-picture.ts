// The picture under the mask as the browser draws it: whole where it is of ordinary size, else scaled down, with parts in full on demand.
// Guarantees: its natural size is known from the header alone, turned as its camera noted; nothing is decoded before it was judged.

import { type Rect, type Size } from "../drawing/geometry";

export type ShownPicture = {
  bitmap: ImageBitmap;
  /** Of the original: the bitmap may be smaller. */
  size: Size;
  /** A part in full; absent where the bitmap is full already, or there is no more. */
  part?: (rect: Rect) => Promise<ImageBitmap>;
  close: () => void;
};

/** A page of a phone holds this many pixels without trouble; beyond, the bitmap is scaled to `SCALED_EDGE`. */
const MOST_WHOLE = 24_000_000;
const SCALED_EDGE = 4_096;

/** As it is shown; undefined where the browser cannot read it. An <img> reads the header and decodes nothing until it is drawn. */
export function naturalSize(file: Blob): Promise<Size | undefined> {
  const url = URL.createObjectURL(file);
  return new Promise<Size | undefined>((resolve) => {
    const image = new Image();
    image.onload = () => resolve({ width: image.naturalWidth, height: image.naturalHeight });
    image.onerror = () => resolve(undefined);
    image.src = url;
  }).finally(() => URL.revokeObjectURL(url));
}

/** Undefined where its pixels cannot be decoded, whatever its header said. */
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
