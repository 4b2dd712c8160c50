// Reads the displayed size of an image from its first bytes. Reads only the header, so it does not validate the file.

const MIN_BYTES = 30;
/** The library ignores rotation and cropping in other formats (HEIF, AVIF, TIFF). */
const supportedTypes = new Set(["png", "jpg", "gif", "webp"]);

/** Contains the size of an image that is too large to preview, such as 20000x20000. The response is empty. */
export const TOO_LARGE_HEADER = "x-too-large";

export type ImageSize = { width: number; height: number };

export async function readImageSize(bytes: Uint8Array): Promise<ImageSize | undefined> {
  const { imageSize } = await import("image-size");
  try {
    const { width, height, type = "" } = imageSize(bytes);
    // The library reads past the end of a truncated file.
    if (bytes.length < MIN_BYTES || !supportedTypes.has(type) || !(width > 0 && height > 0)) return undefined;
    const orientation = readOrientation(bytes);
    if (orientation === undefined) return undefined;
    return orientation >= 5 ? { width: height, height: width } : { width, height };
  } catch {
    return undefined;
  }
}

type ImageKind = "jpeg" | "png" | "webp" | "other";

export function detectImageKind(bytes: Uint8Array): ImageKind {
  const head = toText(bytes, 0, 4);
  if (head.startsWith("\xff\xd8")) return "jpeg";
  if (head === "\x89PNG") return "png";
  return head === "RIFF" && toText(bytes, 8, 4) === "WEBP" ? "webp" : "other";
}

/** Lists the named segments of a file with their content. For a JPEG, lists only segments before its pixels. */
export function* listSegments(bytes: Uint8Array, kind: ImageKind): Generator<{ name: string; content: Uint8Array }> {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  for (let offset = { jpeg: 2, png: 8, webp: 12, other: bytes.length }[kind]; offset + 8 <= bytes.length;) {
    if (kind === "jpeg") {
      const [marker, length] = [view.getUint16(offset), view.getUint16(offset + 2)];
      if (marker < 0xff01 || marker === 0xffda) return;
      yield { name: marker === 0xffe1 ? "EXIF" : "", content: bytes.subarray(offset + 4, offset + 2 + length) };
      offset += 2 + length;
    } else {
      const length = view.getUint32(kind === "png" ? offset : offset + 4, kind === "webp");
      yield { name: toText(bytes, kind === "png" ? offset + 4 : offset, 4), content: bytes.subarray(offset + 8, offset + 8 + length) };
      offset += kind === "png" ? length + 12 : 8 + length + (length % 2);
    }
  }
}

const EXIF_PREFIX = "Exif\0\0";
const HAS_EXIF = 0x08;
const IS_ANIMATED = 0x02;

/** Returns the stored camera rotation, as in EXIF: 1 (upright) to 8. Returns undefined if it is beyond these bytes. */
export function readOrientation(bytes: Uint8Array): number | undefined {
  const kind = detectImageKind(bytes);
  const flags = kind === "webp" && toText(bytes, 12, 4) === "VP8X" ? (bytes[20] ?? 0) : 0;
  const isWebpWithExif = (flags & (HAS_EXIF | IS_ANIMATED)) === HAS_EXIF;
  if (kind === "webp" && !isWebpWithExif) return 1;
  for (const { name, content } of listSegments(bytes, kind)) {
    // No encoder stores the orientation of a PNG after its pixels.
    if (name === "IDAT") return 1;
    const hasExifPrefix = toText(content, 0, EXIF_PREFIX.length) === EXIF_PREFIX;
    // The same JPEG segment may contain other metadata.
    if (name.toUpperCase() !== "EXIF" || (kind === "jpeg" && !hasExifPrefix)) continue;
    return parseOrientation(hasExifPrefix ? content.subarray(EXIF_PREFIX.length) : content);
  }
  return isWebpWithExif ? undefined : 1;
}

function toText(bytes: Uint8Array, offset: number, length: number): string {
  return String.fromCharCode(...bytes.subarray(offset, offset + length));
}

const ORIENTATION_TAG = 0x0112;

/** Reads the orientation of an EXIF block: 1 to 8, or 1 (upright) if it is absent. Never throws. */
export function parseOrientation(tiff: Uint8Array): number {
  const view = new DataView(tiff.buffer, tiff.byteOffset, tiff.byteLength);
  const byteOrder = toText(tiff, 0, 2);
  if ((byteOrder !== "II" && byteOrder !== "MM") || tiff.length < 8) return 1;
  const isLittleEndian = byteOrder === "II";
  const readShort = (offset: number) => (offset + 2 > tiff.length ? 0 : view.getUint16(offset, isLittleEndian));
  const directoryStart = view.getUint32(4, isLittleEndian);
  for (let index = 0; index < Math.min(readShort(directoryStart), 500); index++) {
    const entry = directoryStart + 2 + index * 12;
    if (readShort(entry) !== ORIENTATION_TAG) continue;
    const value = readShort(entry + 8);
    return value >= 1 && value <= 8 ? value : 1;
  }
  return 1;
}
