// The displayed size of a picture from the first bytes of its file. Not a check of the file, since nothing after its header is read.

const LEAST_BYTES = 30;
const MAX_EXIF_BYTES = 65_536;
/** For other kinds (HEIF, AVIF, TIFF) the library does not know how they are turned or cropped. */
const known = new Set(["png", "jpg", "gif", "webp"]);

/** Sent with the console's empty response for a picture that is too large to preview: its size, such as 20000x20000. */
export const TOO_LARGE_HEADER = "x-too-large";

export type PictureSize = { width: number; height: number };

export async function pictureSizeOf(bytes: Uint8Array): Promise<PictureSize | undefined> {
  const { imageSize } = await import("image-size");
  try {
    const { width, height, type = "", orientation = 1 } = imageSize(bytes);
    // The library reads past the end of a truncated file.
    if (bytes.length < LEAST_BYTES || !known.has(type) || !(width > 0 && height > 0)) return undefined;
    if (type === "jpg" && hidesOrientation(bytes)) return undefined;
    const noted = type === "webp" ? orientationInWebp(bytes) : type === "png" ? orientationInPng(bytes) : orientation;
    if (noted === undefined) return undefined;
    return noted >= 5 ? { width: height, height: width } : { width, height };
  } catch {
    return undefined;
  }
}

const HAS_EXIF = 0x08;
const IS_ANIMATED = 0x02;

function orientationInWebp(bytes: Uint8Array): number | undefined {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const flags = lettersOf(bytes, 12, 4) === "VP8X" ? (bytes[20] ?? 0) : 0;
  if ((flags & (HAS_EXIF | IS_ANIMATED)) !== HAS_EXIF) return 1;
  for (let at = 12; at + 8 <= bytes.length;) {
    const length = view.getUint32(at + 4, true);
    const start = at + 8 + (lettersOf(bytes, at + 8, 6) === "Exif\0\0" ? 6 : 0);
    if (lettersOf(bytes, at, 4) === "EXIF") return orientationIn(bytes.subarray(start, at + 8 + length));
    at += 8 + length + (length % 2);
  }
  return undefined;
}

/** Upright if the orientation is stored after the pixels, which no encoder does. */
function orientationInPng(bytes: Uint8Array): number {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  for (let at = 8; at + 8 <= bytes.length && lettersOf(bytes, at + 4, 4) !== "IDAT"; at += view.getUint32(at) + 12)
    if (lettersOf(bytes, at + 4, 4) === "eXIf") return orientationIn(bytes.subarray(at + 8, at + 8 + view.getUint32(at)));
  return 1;
}

function lettersOf(bytes: Uint8Array, at: number, count: number): string {
  return String.fromCharCode(...bytes.subarray(at, at + count));
}

const ORIENTATION = 0x0112;

/** Reads the orientation from an EXIF block: 1 to 8, or 1 (upright) if absent. Never throws. */
export function orientationIn(tiff: Uint8Array): number {
  const view = new DataView(tiff.buffer, tiff.byteOffset, tiff.byteLength);
  const order = lettersOf(tiff, 0, 2);
  if ((order !== "II" && order !== "MM") || tiff.length < 8) return 1;
  const isLittle = order === "II";
  const short = (at: number) => (at + 2 > tiff.length ? 0 : view.getUint16(at, isLittle));
  const start = view.getUint32(4, isLittle);
  for (let index = 0; index < Math.min(short(start), 500); index++) {
    const entry = start + 2 + index * 12;
    if (short(entry) !== ORIENTATION) continue;
    const value = short(entry + 8);
    return value >= 1 && value <= 8 ? value : 1;
  }
  return 1;
}

/** The library looks for the Exif directory right after its head; a file may name another place. */
function hidesOrientation(bytes: Uint8Array): boolean {
  const text = new TextDecoder("latin1").decode(bytes.subarray(0, MAX_EXIF_BYTES));
  const tiff = text.indexOf("Exif\0\0") + 6;
  if (tiff < 6 || tiff + 8 > bytes.length) return false;
  const view = new DataView(bytes.buffer, bytes.byteOffset + tiff, 8);
  return view.getUint32(4, text.startsWith("II", tiff)) !== 8;
}
