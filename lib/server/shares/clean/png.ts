// Removes everything but pixels, colours, animation and orientation from PNG and APNG.
// Kept chunks have exactly the length that the format defines. Compressed pixels must end with their last row.

import "server-only";
import { once } from "node:events";
import { crc32, createInflate } from "node:zlib";
import { parseOrientation } from "@/lib/shared/image-size";
import { MAX_EXIF_BYTES, type MediaReader, NotCleanableError, type Pieces, readExactly, writeOrientationExif } from "./pieces";

type Header = { width: number; height: number; bitsPerPixel: number; isInterlaced: boolean; depth: number; color: number };
type Chunk = { type: string; offset: number; length: number };

/** The limit for all frames together. Larger images would keep a CPU busy for minutes. */
const MAX_PIXEL_BYTES = 2 * 1024 ** 3;

const lengthChecks: Readonly<Record<string, (length: number, header: Header) => boolean>> = {
  PLTE: (length, { depth, color }) => color === 3 && length % 3 === 0 && length > 0 && length <= 3 * 2 ** depth,
  tRNS: (length, { depth, color }) =>
    color === 3 ? length > 0 && length <= 2 ** depth : length === (color === 0 ? 2 : color === 2 ? 6 : -1),
  gAMA: (length) => length === 4,
  cHRM: (length) => length === 32,
  sRGB: (length) => length === 1,
  cICP: (length) => length === 4,
  acTL: (length) => length === 8,
};

export async function cleanPng(file: MediaReader, out: Pieces): Promise<void> {
  out.keep(0, 8);
  const header = await readHeader(file);
  out.keep(8, 33);
  const seenTypes = new Set<string>();
  let frame: PixelStream | undefined;
  let pixelBytesLeft = MAX_PIXEL_BYTES;
  const startFrame = (frameHeader: Header) => {
    const bytes = countPixelBytes(frameHeader);
    if (bytes > pixelBytesLeft) throw new NotCleanableError("too many pixels");
    pixelBytesLeft -= bytes;
    return createPixelStream(bytes);
  };
  let nextSequenceNumber = 0;
  /** Checks the sequence number of an animation chunk, which could otherwise hide four bytes. */
  const requireNextSequenceNumber = async (position: number) => {
    if ((await readExactly(file, position, 4)).readUInt32BE() !== nextSequenceNumber++)
      throw new NotCleanableError("a frame out of sequence");
  };
  for (let offset = 33; ;) {
    const head = await readExactly(file, offset, 8);
    const chunk = { type: head.toString("latin1", 4), offset, length: head.readUInt32BE(0) };
    const { type, length } = chunk;
    const end = offset + 12 + length;
    if (end > file.size) throw new NotCleanableError("a chunk is longer than the file");
    if (type === "IEND") {
      await frame?.end();
      return out.add(writePngChunk("IEND", Buffer.alloc(0)));
    }
    const isFirst = !seenTypes.has(type) && !seenTypes.has("IDAT");
    if (type === "IDAT" || (type === "fdAT" && seenTypes.has("acTL"))) {
      if (type === "IDAT" && !seenTypes.has("IDAT")) frame = startFrame(header);
      if (!frame) throw new NotCleanableError("pixels without a frame");
      if (type === "fdAT") await requireNextSequenceNumber(offset + 8);
      await frame.write(file, type === "fdAT" ? { ...chunk, offset: offset + 4, length: length - 4 } : chunk);
      out.keep(offset, end);
    } else if (type === "fcTL" && seenTypes.has("acTL")) {
      if (length !== 26) throw new NotCleanableError("frame control chunk with an invalid length");
      await requireNextSequenceNumber(offset + 8);
      await requireChecksum(file, end, crc32(await readExactly(file, offset + 4, 30)));
      out.keep(offset, end);
      const size = await readExactly(file, offset + 12, 8);
      if (seenTypes.has("IDAT")) {
        await frame?.end();
        frame = startFrame({ ...header, width: size.readUInt32BE(0), height: size.readUInt32BE(4) });
      }
    } else if (type === "eXIf" && !seenTypes.has("eXIf")) {
      const orientation = parseOrientation(await readExactly(file, offset + 8, Math.min(length, MAX_EXIF_BYTES)));
      if (orientation !== 1) out.add(writePngChunk("eXIf", writeOrientationExif(orientation)));
    } else if (isFirst && lengthChecks[type]?.(length, header)) out.add(writePngChunk(type, await readExactly(file, offset + 8, length)));
    seenTypes.add(type);
    offset = end;
  }
}

/** `end` is the end of the chunk. A wrong checksum could hide four bytes. */
async function requireChecksum(file: MediaReader, end: number, sum: number): Promise<void> {
  if ((await readExactly(file, end - 4, 4)).readUInt32BE() !== sum) throw new NotCleanableError("checksum mismatch");
}

async function readHeader(file: MediaReader): Promise<Header> {
  const head = await readExactly(file, 8, 25);
  const [depth = 0, color = 0, , , interlace] = head.subarray(16, 21);
  const channels = [1, 0, 3, 1, 2, 0, 4][color] ?? 0;
  if (head.toString("latin1", 4, 8) !== "IHDR" || head.readUInt32BE(0) !== 13 || channels === 0)
    throw new NotCleanableError("invalid header");
  await requireChecksum(file, 33, crc32(head.subarray(4, 21)));
  const [width, height] = [head.readUInt32BE(8), head.readUInt32BE(12)];
  return { width, height, bitsPerPixel: channels * depth, isInterlaced: interlace === 1, depth, color };
}

const ADAM7_PASSES = [
  [0, 0, 8, 8],
  [4, 0, 8, 8],
  [0, 4, 4, 8],
  [2, 0, 4, 4],
  [0, 2, 2, 4],
  [1, 0, 2, 2],
  [0, 1, 1, 2],
] as const;

function countPixelBytes({ width, height, bitsPerPixel, isInterlaced }: Header): number {
  const passes = isInterlaced ? ADAM7_PASSES : [[0, 0, 1, 1] as const];
  return passes.reduce((sum, [left, top, stepX, stepY]) => {
    const [columns, rows] = [Math.ceil((width - left) / stepX), Math.ceil((height - top) / stepY)];
    return columns > 0 && rows > 0 ? sum + rows * (1 + Math.ceil((columns * bitsPerPixel) / 8)) : sum;
  }, 0);
}

type PixelStream = ReturnType<typeof createPixelStream>;

/** Checks the compressed pixels of one frame. `expectedBytes` is their uncompressed size. */
function createPixelStream(expectedBytes: number) {
  const CHUNK_BYTES = 256 * 1024;
  const stream = createInflate();
  let [writtenBytes, inflatedBytes] = [0, 0];
  let inflateError: Error | undefined;
  stream.on("error", (error) => (inflateError = error));
  stream.on("data", (bytes: Buffer) => {
    inflatedBytes += bytes.length;
    if (inflatedBytes > expectedBytes) stream.destroy(new Error("more pixels than the header declares"));
  });
  const throwIfInvalid = () => {
    if (inflateError) throw new NotCleanableError("invalid compressed pixels");
  };
  return {
    async write(file: MediaReader, { type, offset, length }: Chunk): Promise<void> {
      const isNumbered = type === "fdAT";
      const end = offset + 8 + length;
      // Animation chunks have a sequence number between their name and their pixels.
      let sum = crc32(await readExactly(file, isNumbered ? offset : offset + 4, isNumbered ? 8 : 4));
      for (let from = offset + 8; from < end; from += CHUNK_BYTES) {
        const bytes = await readExactly(file, from, Math.min(CHUNK_BYTES, end - from));
        writtenBytes += bytes.length;
        sum = crc32(bytes, sum);
        throwIfInvalid();
        await new Promise<void>((resolve) => stream.write(bytes, () => resolve()));
      }
      await requireChecksum(file, end + 4, sum);
    },
    async end(): Promise<void> {
      throwIfInvalid();
      const closePromise = once(stream, "close").catch(() => undefined);
      stream.end();
      await closePromise;
      throwIfInvalid();
      if (inflatedBytes !== expectedBytes || stream.bytesWritten !== writtenBytes)
        throw new NotCleanableError("extra bytes after the pixels");
    },
  };
}

function writePngChunk(type: string, content: Buffer): Buffer {
  const typeAndContent = Buffer.concat([Buffer.from(type, "latin1"), content]);
  const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(content.length);
  sum.writeUInt32BE(crc32(typeAndContent));
  return Buffer.concat([length, typeAndContent, sum]);
}
