// Decodes untrusted images within a memory budget. The first bytes determine the format, so that SVG and PDF are never rendered.

import { type FileHandle, open } from "node:fs/promises";
import sharp, { type Metadata, type ResizeOptions } from "sharp";
import { createLimiter, type Limiter } from "./async";

const MAX_DECODE_BYTES = 512 * 1024 ** 2;
const MIN_PIXEL_BYTES = 5;
export const MAX_DECODE_PIXELS = Math.floor(MAX_DECODE_BYTES / MIN_PIXEL_BYTES);

export class ImageTooLargeError extends Error {
  override name = "ImageTooLarge";
  constructor(readonly size?: Size) {
    super(`The image takes too much memory to decode${size ? ` (${size.width} × ${size.height} pixels)` : ""}.`);
  }
}

type Size = { width: number; height: number };
type Source = string | Uint8Array;
type Format = "png" | "jpeg" | "webp" | "gif" | "heif" | "tiff";
type Reader = { size: number; read(offset: number, length: number): Promise<Buffer> };

export async function withImage<T>(source: Source, work: (header: Metadata) => Promise<T>): Promise<T> {
  const { header, extraBytes } = await readHeader(source);
  return runWithinBudget(extraBytes + estimatePixelBytes(header), () => work(header), header.autoOrient);
}

export async function readImageHeader(source: Source): Promise<Metadata> {
  return (await readHeader(source)).header;
}

export async function requireDecodable(source: Source): Promise<Metadata> {
  const { header, extraBytes } = await readHeader(source);
  requireWithinBudget(extraBytes + estimatePixelBytes(header), header.autoOrient);
  return header;
}

const DRAW_TIMEOUT_SECONDS = 20;

/** Draws the first frame of an image within a box, upright, as WebP and without metadata. Call it inside `withImage`. */
export function drawThumbnail(source: Source, box: ResizeOptions, failOn: "error" | "truncated", background?: string): Promise<Buffer> {
  const image = sharp(source, { limitInputPixels: MAX_DECODE_PIXELS, failOn, pages: 1 });
  const resizedImage = image.timeout({ seconds: DRAW_TIMEOUT_SECONDS }).autoOrient().resize(box);
  return (background === undefined ? resizedImage : resizedImage.flatten({ background })).webp({ quality: 80, effort: 2 }).toBuffer();
}

async function readHeader(source: Source): Promise<{ header: Metadata; extraBytes: number }> {
  const extraBytes = await withReader(source, async (reader) => {
    const format = detectFormat((await reader.read(0, 12)).toString("latin1"));
    if (format === undefined) throw new Error("The file has an unsupported image format.");
    if (format === "png") return estimatePngTextBytes(reader);
    if (format === "tiff") await checkTiffPages(reader);
    // The decoder lists all frames of a GIF, with 15 bytes per frame in the file and 90 in memory.
    return format === "gif" ? reader.size * 8 : 0;
  });
  const readMetadata = () => sharp(source, { limitInputPixels: false, pages: 1 }).metadata();
  return { header: await runWithinBudget(extraBytes, readMetadata), extraBytes };
}

function detectFormat(head: string): Format | undefined {
  if (head.startsWith("\x89PNG\r\n\x1a\n")) return "png";
  if (head.startsWith("\xff\xd8\xff")) return "jpeg";
  if (head.startsWith("RIFF") && head.startsWith("WEBP", 8)) return "webp";
  if (/^GIF8[79]a/.test(head)) return "gif";
  if (head.startsWith("ftyp", 4)) return "heif";
  return /^(II[*+]\0|MM\0[*+])/.test(head) ? "tiff" : undefined;
}

/** Peak decoding memory, measured with sharp 0.35. The AVIF decoder makes several copies, and a JPEG with many scans stores coefficients. */
function estimatePixelBytes({ width, height, format, depth, channels }: Metadata): number {
  const is16Bit = depth !== "uchar";
  if (format === "heif") return width * height * (is16Bit ? 28 : 20);
  return width * height * Math.max(MIN_PIXEL_BYTES, channels * (is16Bit || format === "jpeg" ? 2 : 1) + 1);
}

const PNG_TEXT_TYPES = new Set(["tEXt", "zTXt", "iTXt", "iCCP"]);
const MAX_PNG_TEXT_BYTES = 8_000_000;
const MAX_DEFLATE_RATIO = 1032;
/** Decodable images have fewer chunks, even with chunks of only 8 KiB. */
const MAX_PNG_CHUNKS = 100_000;

/** Estimates the size of a PNG's compressed texts, which libpng decompresses while it reads the header. */
async function estimatePngTextBytes({ size, read }: Reader): Promise<number> {
  const WINDOW_BYTES = 64 * 1024;
  let window: Buffer = Buffer.alloc(0);
  let [windowStart, totalBytes] = [0, 0];
  for (let offset = 8, chunkCount = 0; offset + 8 <= size; chunkCount++) {
    if (chunkCount >= MAX_PNG_CHUNKS) throw new Error(`The file has more than ${MAX_PNG_CHUNKS} chunks.`);
    if (offset + 8 > windowStart + window.length) {
      window = await read(offset, WINDOW_BYTES);
      windowStart = offset;
    }
    if (window.length < 8) break;
    const length = window.readUInt32BE(offset - windowStart);
    if (PNG_TEXT_TYPES.has(window.toString("latin1", offset - windowStart + 4, offset - windowStart + 8)))
      totalBytes += 2 * Math.min(length * MAX_DEFLATE_RATIO, MAX_PNG_TEXT_BYTES);
    offset += 12 + length;
  }
  return totalBytes;
}

const MAX_TIFF_PAGES = 1000;

/** The decoder lists all pages of a TIFF before it decodes the first. */
async function checkTiffPages({ read }: Reader): Promise<void> {
  const head = await read(0, 16);
  const isLittleEndian = head[0] === 0x49;
  const isBigTiff = head.includes(0x2b);
  const readNumber = (bytes: Buffer) =>
    isLittleEndian ? bytes.readUIntLE(0, Math.min(6, bytes.length)) : bytes.readUIntBE(0, Math.min(6, bytes.length));
  const [pointerBytes, countBytes, entryBytes] = isBigTiff ? [8, 8, 20] : [4, 2, 12];
  const readAtOffset = async (position: number, length: number) => {
    const bytes = await read(position, length);
    if (bytes.length < length) throw new Error("The file ends too early.");
    return readNumber(isLittleEndian ? bytes : bytes.subarray(-6));
  };
  let offset = await readAtOffset(isBigTiff ? 8 : 4, pointerBytes);
  for (let pageCount = 0; offset !== 0; pageCount++) {
    if (pageCount >= MAX_TIFF_PAGES) throw new Error(`The file has more than ${MAX_TIFF_PAGES} pages.`);
    offset = await readAtOffset(offset + countBytes + (await readAtOffset(offset, countBytes)) * entryBytes, pointerBytes);
  }
}

async function withReader<T>(source: Source, work: (reader: Reader) => Promise<T>): Promise<T> {
  if (typeof source !== "string") {
    const bytes = Buffer.from(source.buffer, source.byteOffset, source.byteLength);
    return work({ size: bytes.length, read: (offset, length) => Promise.resolve(bytes.subarray(offset, offset + length)) });
  }
  const file = await open(source);
  try {
    return await work({ size: (await file.stat()).size, read: (offset, length) => readAt(file, offset, length) });
  } finally {
    await file.close();
  }
}

async function readAt(file: FileHandle, offset: number, length: number): Promise<Buffer> {
  const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, offset);
  return buffer.subarray(0, bytesRead);
}

const budgetKey = Symbol.for("lightdesk.decode-budget");

/** The budget is in bytes. It is stored on globalThis, because the bundler loads a module several times. */
function getDecodeBudget(): Limiter {
  const existingBudget: Limiter | undefined = Reflect.get(globalThis, budgetKey);
  const budget = existingBudget ?? createLimiter(MAX_DECODE_BYTES);
  Reflect.set(globalThis, budgetKey, budget);
  return budget;
}

function requireWithinBudget(bytes: number, size?: Size): void {
  if (bytes > MAX_DECODE_BYTES) throw new ImageTooLargeError(size);
}

async function runWithinBudget<T>(bytes: number, work: () => Promise<T>, size?: Size): Promise<T> {
  if (bytes === 0) return work();
  requireWithinBudget(bytes, size);
  return getDecodeBudget()(work, bytes);
}
