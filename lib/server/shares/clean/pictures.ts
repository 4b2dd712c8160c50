// PNG, JPEG, WebP and GIF without texts, EXIF, XMP, comments and bytes after their end. Pixels,
// colours, animation and orientation are kept.

import "server-only";
import { crc32 } from "node:zlib";
import { orientationIn, orientationOnly } from "./exif";
import { exactly, NotCleanable, type Pieces, type Reading } from "./pieces";

const LONGEST_EXIF = 64 * 1024;

const pngChunks = new Set([
  ...["IHDR", "PLTE", "IDAT", "IEND", "tRNS", "gAMA", "cHRM", "sRGB", "iCCP", "sBIT", "pHYs", "bKGD", "cICP", "mDCV", "cLLI"],
  ...["acTL", "fcTL", "fdAT"],
]);

export async function cleanPng(file: Reading, out: Pieces): Promise<void> {
  out.keep(0, 8);
  for (let at = 8; ;) {
    const head = await exactly(file, at, 8);
    const length = head.readUInt32BE(0);
    const type = head.toString("latin1", 4);
    const end = at + 12 + length;
    if (end > file.size) throw new NotCleanable("a chunk is longer than the file");
    if (pngChunks.has(type)) out.keep(at, end);
    if (type === "eXIf") {
      const orientation = orientationIn(await exactly(file, at + 8, Math.min(length, LONGEST_EXIF)));
      if (orientation !== 1) out.add(pngChunk("eXIf", orientationOnly(orientation)));
    }
    if (type === "IEND") return;
    at = end;
  }
}

function pngChunk(type: string, content: Buffer): Buffer {
  const typed = Buffer.concat([Buffer.from(type, "latin1"), content]);
  const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(content.length);
  sum.writeUInt32BE(crc32(typed));
  return Buffer.concat([length, typed, sum]);
}

const EXIF = "Exif\0\0";

export async function cleanJpeg(file: Reading, out: Pieces): Promise<void> {
  out.keep(0, 2);
  for (let at = 2; ;) {
    const [mark = 0, marker = 0] = await exactly(file, at, 2);
    if (mark !== 0xff) throw new NotCleanable("a marker is missing");
    if (marker === 0xff) at += 1;
    else if (marker === 0xd9) return out.keep(at, at + 2);
    else if (marker === 0x01 || (marker >= 0xd0 && marker <= 0xd7)) {
      out.keep(at, at + 2);
      at += 2;
    } else {
      const end = at + 2 + (await exactly(file, at + 2, 2)).readUInt16BE();
      const head = await file.read(at + 4, Math.min(end - at - 4, 16));
      if (isDrawn(marker, head.toString("latin1"))) out.keep(at, end);
      if (marker === 0xe1 && head.toString("latin1", 0, 6) === EXIF) {
        const orientation = orientationIn(await exactly(file, at + 10, Math.max(0, end - at - 10)));
        if (orientation !== 1) out.add(exifSegment(orientation));
      }
      const next = marker === 0xda ? await endOfScan(file, end) : end;
      if (marker === 0xda) out.keep(end, next);
      at = next;
    }
  }
}

/** Of the segments that applications add (APPn), only those needed to decode and colour the picture are kept. */
function isDrawn(marker: number, head: string): boolean {
  if (marker === 0xe0) return head.startsWith("JFIF\0");
  if (marker === 0xe2) return head.startsWith("ICC_PROFILE\0");
  if (marker === 0xee) return head.startsWith("Adobe");
  return marker < 0xe0 && marker >= 0xc0;
}

function exifSegment(orientation: number): Buffer {
  const content = Buffer.concat([Buffer.from(EXIF, "latin1"), orientationOnly(orientation)]);
  const head = Buffer.from([0xff, 0xe1, 0, content.length + 2]);
  return Buffer.concat([head, content]);
}

/** The next marker that does not belong to the scan itself. */
async function endOfScan(file: Reading, from: number): Promise<number> {
  const STRETCH = 64 * 1024;
  for (let at = from; ;) {
    const bytes = await file.read(at, STRETCH);
    if (bytes.length < 2) throw new NotCleanable("the picture has no end");
    for (let found = bytes.indexOf(0xff); found >= 0 && found + 1 < bytes.length; found = bytes.indexOf(0xff, found + 1)) {
      const marker = bytes[found + 1] ?? 0;
      if (marker !== 0 && marker !== 0xff && (marker < 0xd0 || marker > 0xd7)) return at + found;
    }
    at += bytes.length - 1;
  }
}

const webpChunks = new Set(["VP8 ", "VP8L", "VP8X", "ALPH", "ANIM", "ANMF", "ICCP"]);
const HAS_EXIF = 0x08;
const HAS_XMP = 0x04;

export async function cleanWebp(file: Reading, out: Pieces): Promise<void> {
  const kept: { type: string; at: number; end: number }[] = [];
  let orientation = 1;
  const end = Math.min(file.size, 8 + (await exactly(file, 4, 4)).readUInt32LE());
  for (let at = 12; at + 8 <= end;) {
    const head = await exactly(file, at, 8);
    const type = head.toString("latin1", 0, 4);
    const length = head.readUInt32LE(4);
    const next = at + 8 + length + (length % 2);
    if (next > file.size) throw new NotCleanable("a chunk is longer than the file");
    if (type === "VP8X" && length !== 10) throw new NotCleanable("a head of another length");
    if (webpChunks.has(type)) kept.push({ type, at, end: next });
    if (type === "EXIF") {
      const exif = await exactly(file, at + 8, Math.min(length, LONGEST_EXIF));
      orientation = orientationIn(exif.toString("latin1", 0, 6) === EXIF ? exif.subarray(6) : exif);
    }
    at = next;
  }
  const hasFlags = kept.some(({ type }) => type === "VP8X");
  const exif = orientation !== 1 && hasFlags ? orientationOnly(orientation) : undefined;
  const size = kept.reduce((sum, chunk) => sum + chunk.end - chunk.at, 4) + (exif ? 8 + exif.length : 0);
  out.add(riff("WEBP", size));
  for (const chunk of kept) {
    if (chunk.type !== "VP8X") out.keep(chunk.at, chunk.end);
    else {
      const flags = await exactly(file, chunk.at, chunk.end - chunk.at);
      const own = Buffer.from(flags);
      own[8] = ((own[8] ?? 0) & ~(HAS_EXIF | HAS_XMP)) | (exif ? HAS_EXIF : 0);
      out.add(own);
    }
  }
  if (!exif) return;
  const head = Buffer.from("EXIF\0\0\0\0", "latin1");
  head.writeUInt32LE(exif.length, 4);
  out.add(Buffer.concat([head, exif]));
}

export function riff(form: string, size: number): Buffer {
  const head = Buffer.from(`RIFF\0\0\0\0${form}`, "latin1");
  head.writeUInt32LE(size, 4);
  return head;
}

const loops = new Set(["NETSCAPE2.0", "ANIMEXTS1.0"]);

export async function cleanGif(file: Reading, out: Pieces): Promise<void> {
  const tableOf = (flags: number) => (flags & 0x80 ? 3 * 2 ** ((flags & 7) + 1) : 0);
  const afterBlocks = async (from: number) => {
    for (let start = from; ;) {
      const bytes = await file.read(start, 4096);
      if (bytes.length === 0) throw new NotCleanable("the picture has no end");
      let at = 0;
      while (at < bytes.length) {
        const length = bytes[at] ?? 0;
        at += 1 + length;
        if (length === 0) return start + at;
      }
      start += at;
    }
  };
  let at = 13 + tableOf((await exactly(file, 10, 1))[0] ?? 0);
  out.keep(0, at);
  for (;;) {
    const [kind, label] = await exactly(file, at, 1).then(async (first) => [first[0], (await file.read(at + 1, 1))[0]]);
    if (kind === 0x3b) return out.keep(at, at + 1);
    if (kind !== 0x21 && kind !== 0x2c) throw new NotCleanable("a block is unknown");
    const start = kind === 0x21 ? at + 2 : at + 11 + tableOf((await exactly(file, at + 9, 1))[0] ?? 0);
    const end = await afterBlocks(start);
    const isLoop = label === 0xff && loops.has((await exactly(file, at + 3, 11)).toString("latin1"));
    if (kind === 0x2c || label === 0xf9 || label === 0x01 || isLoop) out.keep(at, end);
    at = end;
  }
}
