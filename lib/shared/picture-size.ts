// The displayed size of a picture in pixels, from the first bytes of its file. The library is loaded when first used.
// Guarantees: never throws, whatever the bytes are; undefined if they do not say; a photograph stored on its side is measured upright.
// Must never: be used as a check of the file, since nothing after its header is read.

/** The longest header that is read. */
const LEAST_BYTES = 30;
const MOST_EXIF_BYTES = 65_536;
/** For other kinds (HEIF, AVIF, TIFF) the library does not know how they are turned or cropped. */
const known = new Set(["png", "jpg", "gif", "webp"]);

export type PictureSize = { width: number; height: number };

export async function pictureSizeOf(bytes: Uint8Array): Promise<PictureSize | undefined> {
  const { imageSize } = await import("image-size");
  try {
    const { width, height, type = "", orientation = 1 } = imageSize(bytes);
    // The library reads past the end of a truncated file.
    if (bytes.length < LEAST_BYTES || !known.has(type) || !(width > 0 && height > 0)) return undefined;
    if (type === "jpg" && hidesOrientation(bytes)) return undefined;
    // Of the eight orientations of a photograph, those from the fifth on swap its edges.
    return orientation >= 5 ? { width: height, height: width } : { width, height };
  } catch {
    return undefined;
  }
}

/** The library looks for the Exif directory right after its head; a file may name another place. */
function hidesOrientation(bytes: Uint8Array): boolean {
  const text = new TextDecoder("latin1").decode(bytes.subarray(0, MOST_EXIF_BYTES));
  const tiff = text.indexOf("Exif\0\0") + 6;
  if (tiff < 6 || tiff + 8 > bytes.length) return false;
  const view = new DataView(bytes.buffer, bytes.byteOffset + tiff, 8);
  return view.getUint32(4, text.startsWith("II", tiff)) !== 8;
}
