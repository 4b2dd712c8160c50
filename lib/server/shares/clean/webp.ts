// Removes everything but pixels, animation and orientation from WebP. Chunks around the pixels are rewritten with their defined length.

import "server-only";
import { parseOrientation } from "@/lib/shared/image-size";
import { MAX_EXIF_BYTES, type MediaReader, NotCleanableError, type Pieces, readExactly, writeOrientationExif } from "./pieces";

const ALPHA = 0x10;
const EXIF = 0x08;
const ANIMATION = 0x02;
const FRAME_BYTES = 16;

type Chunk = { type: string; start: number; length: number };
type OutputChunk = { type: string; content: (Buffer | { from: number; to: number })[] };

export async function cleanWebp(file: MediaReader, out: Pieces): Promise<void> {
  const end = Math.min(file.size, 8 + (await readExactly(file, 4, 4)).readUInt32LE());
  const chunks = await readChunks(file, 12, end);
  const extendedHeader = chunks.find(({ type }) => type === "VP8X");
  const outputChunks: OutputChunk[] = [];
  if (!extendedHeader) outputChunks.push(...findPixelChunks(chunks).slice(-1));
  else {
    if (extendedHeader.length !== 10) throw new NotCleanableError("VP8X chunk with an invalid length");
    const content = await readExactly(file, extendedHeader.start, 10);
    const exif = await readOrientationExif(file, chunks);
    const isAnimation = ((content[0] ?? 0) & ANIMATION) !== 0;
    const flags = ((content[0] ?? 0) & (ALPHA | ANIMATION)) | (exif ? EXIF : 0);
    outputChunks.push({ type: "VP8X", content: [Buffer.from([flags, 0, 0, 0]), content.subarray(4)] });
    outputChunks.push(...(isAnimation ? await readFrames(file, chunks) : findPixelChunks(chunks)));
    if (exif) outputChunks.push({ type: "EXIF", content: [exif] });
  }
  const head = Buffer.from("RIFF\0\0\0\0WEBP", "latin1");
  head.writeUInt32LE(
    outputChunks.reduce((sum, chunk) => sum + getChunkSize(chunk), 4),
    4,
  );
  out.add(head);
  for (const chunk of outputChunks) writeChunk(out, chunk);
}

async function readChunks(file: MediaReader, from: number, end: number): Promise<Chunk[]> {
  const chunks: Chunk[] = [];
  for (let offset = from; offset + 8 <= end;) {
    const head = await readExactly(file, offset, 8);
    const length = head.readUInt32LE(4);
    if (offset + 8 + length > end) throw new NotCleanableError("a chunk exceeds its parent");
    chunks.push({ type: head.toString("latin1", 0, 4), start: offset + 8, length });
    offset += 8 + length + (length % 2);
  }
  return chunks;
}

/** Returns the image, preceded by its alpha channel. */
function findPixelChunks(chunks: readonly Chunk[]): OutputChunk[] {
  const image = chunks.find(({ type }) => type === "VP8 " || type === "VP8L");
  if (!image) throw new NotCleanableError("no image data");
  const alpha = image.type === "VP8 " ? chunks.find(({ type, start }) => type === "ALPH" && start < image.start) : undefined;
  return [...(alpha ? [alpha] : []), image].map(({ type, start, length }) => ({ type, content: [{ from: start, to: start + length }] }));
}

async function readFrames(file: MediaReader, chunks: readonly Chunk[]): Promise<OutputChunk[]> {
  const animation = chunks.find(({ type }) => type === "ANIM");
  if (animation?.length !== 6) throw new NotCleanableError("ANIM chunk with an invalid length");
  const outputChunks: OutputChunk[] = [{ type: "ANIM", content: [await readExactly(file, animation.start, 6)] }];
  for (const { type, start, length } of chunks) {
    if (type !== "ANMF") continue;
    const frame: OutputChunk = { type, content: [await readExactly(file, start, FRAME_BYTES)] };
    for (const part of findPixelChunks(await readChunks(file, start + FRAME_BYTES, start + length)))
      frame.content.push(...toChunkBytes(part));
    outputChunks.push(frame);
  }
  return outputChunks;
}

async function readOrientationExif(file: MediaReader, chunks: readonly Chunk[]): Promise<Buffer | undefined> {
  const chunk = chunks.find(({ type }) => type === "EXIF");
  if (!chunk) return undefined;
  const exif = await readExactly(file, chunk.start, Math.min(chunk.length, MAX_EXIF_BYTES));
  const orientation = parseOrientation(exif.toString("latin1", 0, 6) === "Exif\0\0" ? exif.subarray(6) : exif);
  return orientation === 1 ? undefined : writeOrientationExif(orientation);
}

function getContentLength({ content }: OutputChunk): number {
  return content.reduce((sum, part) => sum + (Buffer.isBuffer(part) ? part.length : part.to - part.from), 0);
}

/** Includes the header, and a padding byte if the length is odd. */
function getChunkSize(chunk: OutputChunk): number {
  const length = getContentLength(chunk);
  return 8 + length + (length % 2);
}

function toChunkBytes(chunk: OutputChunk): OutputChunk["content"] {
  const length = getContentLength(chunk);
  const head = Buffer.from(`${chunk.type}\0\0\0\0`, "latin1");
  head.writeUInt32LE(length, 4);
  return [head, ...chunk.content, Buffer.alloc(length % 2)];
}

function writeChunk(out: Pieces, chunk: OutputChunk): void {
  for (const part of toChunkBytes(chunk)) {
    if (!Buffer.isBuffer(part)) out.keep(part.from, part.to);
    else if (part.length > 0) out.add(part);
  }
}
