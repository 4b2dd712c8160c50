// In how many pixels a picture is seen, from the first bytes of its file. Its reader is fetched when it is asked.
// Guarantees: never throws, whatever the bytes are; undefined where they do not say; a photograph that lies on its side is told upright.
// Must never: be taken for a check of the file, since nothing behind its header is read.

/** The longest header that is read. */
const LEAST_BYTES = 30;

export type PictureSize = { width: number; height: number };

export async function pictureSizeOf(bytes: Uint8Array): Promise<PictureSize | undefined> {
  const { imageSize } = await import("image-size");
  try {
    const { width, height, orientation = 1 } = imageSize(bytes);
    // It reads on behind the end of what was cut off.
    if (bytes.length < LEAST_BYTES || !(width > 0 && height > 0)) return undefined;
    // Of the eight ways that a photograph may lie, from the fifth on its edges are swapped.
    return orientation >= 5 ? { width: height, height: width } : { width, height };
  } catch {
    return undefined;
  }
}
