// The displayed size of a picture from the first bytes of its file. Not a check of the file, since nothing after its header is read.

const MIN_BYTES = 30;
/** The library ignores the rotation and cropping of other formats (HEIF, AVIF, TIFF). */
const pictureTypes = new Set(["png", "jpg", "gif", "webp"]);

/** Sent with the console's empty response for a picture that is too large to preview: its size, such as 20000x20000. */
export const TOO_LARGE_HEADER = "x-too-large";

export type PictureSize = { width: number; height: number };

export async function pictureSizeOf(bytes: Uint8Array): Promise<PictureSize | undefined> {
  const { imageSize } = await import("image-size");
  try {
    const { width, height, type = "" } = imageSize(bytes);
    // The library reads past the end of a truncated file.
    if (bytes.length < MIN_BYTES || !pictureTypes.has(type) || !(width > 0 && height > 0)) return undefined;
    const orientation = orientationOf(bytes);
    if (orientation === undefined) return undefined;
    return orientation >= 5 ? { width: height, height: width } : { width, height };
  } catch {
    return undefined;
  }
}

type PictureKind = "jpeg" | "png" | "webp" | "other";

export function pictureKindOf(bytes: Uint8Array): PictureKind {
  const head = lettersOf(bytes, 0, 4);
  if (head.startsWith("\xff\xd8")) return "jpeg";
  if (head === "\x89PNG") return "png";
  return head === "RIFF" && lettersOf(bytes, 8, 4) === "WEBP" ? "webp" : "other";
}

/** The named parts of a file and their content; of a JPEG only those before its pixels. */
export function* partsOf(bytes: Uint8Array, kind: PictureKind): Generator<{ name: string; content: Uint8Array }> {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  for (let at = { jpeg: 2, png: 8, webp: 12, other: bytes.length }[kind]; at + 8 <= bytes.length;) {
    if (kind === "jpeg") {
      const [marker, length] = [view.getUint16(at), view.getUint16(at + 2)];
      if (marker < 0xff01 || marker === 0xffda) return;
      yield { name: marker === 0xffe1 ? "EXIF" : "", content: bytes.subarray(at + 4, at + 2 + length) };
      at += 2 + length;
    } else {
      const length = view.getUint32(kind === "png" ? at : at + 4, kind === "webp");
      yield { name: lettersOf(bytes, kind === "png" ? at + 4 : at, 4), content: bytes.subarray(at + 8, at + 8 + length) };
      at += kind === "png" ? length + 12 : 8 + length + (length % 2);
    }
  }
}

const EXIF_MARK = "Exif\0\0";
const HAS_EXIF = 0x08;
const IS_ANIMATED = 0x02;

/** The camera's rotation as stored in the file, as in EXIF: 1 (upright) to 8. Undefined if it is beyond these bytes. */
export function orientationOf(bytes: Uint8Array): number | undefined {
  const kind = pictureKindOf(bytes);
  const flags = kind === "webp" && lettersOf(bytes, 12, 4) === "VP8X" ? (bytes[20] ?? 0) : 0;
  const isWebpWithExif = (flags & (HAS_EXIF | IS_ANIMATED)) === HAS_EXIF;
  if (kind === "webp" && !isWebpWithExif) return 1;
  for (const { name, content } of partsOf(bytes, kind)) {
    // No encoder stores the orientation of a PNG after its pixels.
    if (name === "IDAT") return 1;
    const isMarked = lettersOf(content, 0, EXIF_MARK.length) === EXIF_MARK;
    // The same JPEG segment may hold other metadata.
    if (name.toUpperCase() !== "EXIF" || (kind === "jpeg" && !isMarked)) continue;
    return orientationIn(isMarked ? content.subarray(EXIF_MARK.length) : content);
  }
  return isWebpWithExif ? undefined : 1;
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
