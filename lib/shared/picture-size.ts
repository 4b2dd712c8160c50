// In how many pixels a picture is seen, from the first bytes of its file: PNG, JPEG, WebP, GIF.
// Guarantees: never throws, whatever the bytes are; undefined where they do not say; a photograph that lies on its side is told upright.
// Must never: be taken for a check of the file, since nothing behind its header is read.

export type PictureSize = { width: number; height: number };

export function pictureSizeOf(bytes: Uint8Array): PictureSize | undefined {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  try {
    const size = ofPng(view) ?? ofGif(view) ?? ofWebp(view) ?? ofJpeg(view);
    return size && size.width > 0 && size.height > 0 ? size : undefined;
  } catch (error) {
    // It ends before it says so.
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

function textAt(view: DataView, at: number, length: number): string {
  return Array.from({ length }, (_, index) => String.fromCharCode(view.getUint8(at + index))).join("");
}

function ofPng(view: DataView): PictureSize | undefined {
  if (textAt(view, 0, 8) !== "\x89PNG\r\n\x1a\n" || textAt(view, 12, 4) !== "IHDR") return undefined;
  return { width: view.getUint32(16), height: view.getUint32(20) };
}

function ofGif(view: DataView): PictureSize | undefined {
  if (!/^GIF8[79]a$/.test(textAt(view, 0, 6))) return undefined;
  return { width: view.getUint16(6, true), height: view.getUint16(8, true) };
}

function ofWebp(view: DataView): PictureSize | undefined {
  if (textAt(view, 0, 4) !== "RIFF" || textAt(view, 8, 4) !== "WEBP") return undefined;
  const kind = textAt(view, 12, 4);
  if (kind === "VP8X") return { width: 1 + threeBytes(view, 24), height: 1 + threeBytes(view, 27) };
  if (kind === "VP8 ") return { width: view.getUint16(26, true) & 0x3fff, height: view.getUint16(28, true) & 0x3fff };
  if (kind !== "VP8L") return undefined;
  const bits = view.getUint32(21, true);
  return { width: 1 + (bits & 0x3fff), height: 1 + ((bits >> 14) & 0x3fff) };
}

function threeBytes(view: DataView, at: number): number {
  return view.getUint16(at, true) + view.getUint8(at + 2) * 65_536;
}

/** From one segment to the next until the one that begins a frame. */
function ofJpeg(view: DataView): PictureSize | undefined {
  if (view.getUint16(0) !== 0xff_d8) return undefined;
  let isOnItsSide = false;
  for (let at = 2; view.getUint8(at) === 0xff;) {
    const marker = view.getUint8(at + 1);
    if (marker === 0xff) {
      at += 1;
      continue;
    }
    if (isFrame(marker)) {
      const [height, width] = [view.getUint16(at + 5), view.getUint16(at + 7)];
      return isOnItsSide ? { width: height, height: width } : { width, height };
    }
    if (marker === 0xe1 && textAt(view, at + 4, 6) === "Exif\0\0") isOnItsSide = orientationAt(view, at + 10) >= 5;
    at += 2 + view.getUint16(at + 2);
  }
  return undefined;
}

/** C4, C8 and CC are among them and mean something else. */
function isFrame(marker: number): boolean {
  return marker >= 0xc0 && marker <= 0xcf && marker !== 0xc4 && marker !== 0xc8 && marker !== 0xcc;
}

/** Of the eight ways that a photograph may lie; from the fifth on its edges are swapped. */
function orientationAt(view: DataView, tiff: number): number {
  const isLittle = textAt(view, tiff, 2) === "II";
  const list = tiff + view.getUint32(tiff + 4, isLittle);
  const count = view.getUint16(list, isLittle);
  for (let index = 0; index < count; index += 1) {
    const entry = list + 2 + 12 * index;
    if (view.getUint16(entry, isLittle) === 0x01_12) return view.getUint16(entry + 8, isLittle);
  }
  return 1;
}
