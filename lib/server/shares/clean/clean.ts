// Removes text, EXIF, XMP, tags, comments and times from files of known formats, recognized by their first bytes. Never recompresses.
// Files that can't be parsed to the end are rejected.

import "server-only";
import { cleanJpeg } from "./jpeg";
import { cleanMatroska } from "./matroska";
import { cleanMp4 } from "./mp4";
import { createPieces, type MediaReader, NotCleanableError, type Piece, type Pieces, readExactly } from "./pieces";
import { cleanPng } from "./png";
import { cleanWebp } from "./webp";

/** Increase it whenever more is removed, so that files cleaned by an older version are cleaned again. */
export const CLEANING_VERSION = 6;

type Cleaner = (file: MediaReader, out: Pieces) => Promise<void>;

/** Files that can be cleaned, judged only by name and type. The bytes are read when the file is first opened. */
const cleanableNames = /\.(png|apng|jpe?g|webp|gif|mp4|m4v|m4a|mov|webm|mkv|mp3|flac|txt|md|csv|srt|vtt)$/i;
const cleanableTypes =
  /^(image\/(png|apng|jpeg|webp|gif)|video\/(mp4|quicktime|webm|x-matroska)|audio\/(mpeg|mp4|flac|x-flac)|text\/(plain|markdown|csv))$/i;

export function isCleanable(name: string, type: string | undefined): boolean {
  return cleanableNames.test(name) || (type !== undefined && cleanableTypes.test(type));
}

export async function cleanFile(file: MediaReader): Promise<Piece[] | undefined> {
  const clean = findCleaner(await file.read(0, 4096));
  if (!clean) return undefined;
  const out = createPieces();
  try {
    await clean(file, out);
  } catch (error) {
    if (error instanceof NotCleanableError) return undefined;
    throw error;
  }
  return out.pieces;
}

/** Brands of AVIF and HEIF files, which have MP4 boxes but metadata among the pixels. */
const heifBrands = /^(avi[fs]|hei[cmsx]|hev[cmx]|mif1|msf1|mif2)/;

function findCleaner(head: Buffer): Cleaner | undefined {
  const text = head.toString("latin1", 0, 16);
  if (text.startsWith("\x89PNG\r\n\x1a\n")) return cleanPng;
  if (text.startsWith("\xff\xd8\xff")) return cleanJpeg;
  if (text.startsWith("GIF87a") || text.startsWith("GIF89a")) return cleanGif;
  if (text.startsWith("RIFF") && text.slice(8, 12) === "WEBP") return cleanWebp;
  if (text.slice(4, 8) === "ftyp") return heifBrands.test(text.slice(8)) ? undefined : cleanMp4;
  if (text.startsWith("\x1a\x45\xdf\xa3")) return cleanMatroska;
  if (text.startsWith("fLaC")) return cleanFlac;
  if (text.startsWith("ID3")) return cleanMp3;
  if (head[0] === 0xff) return isAudioFrame(head) ? cleanMp3 : undefined;
  return isText(head) ? keepAll : undefined;
}

async function keepAll({ size }: MediaReader, out: Pieces): Promise<void> {
  out.keep(0, size);
}

/** Plain text only, because markup may contain anything. */
function isText(head: Buffer): boolean {
  return !/[\0\x01-\x08\x0e-\x1f<{]/.test(head.toString("latin1"));
}

// Removes everything but pixels, delays and the loop count from GIF. Every kept extension has its defined length and belongs to an image.

const EXTENSION = 0x21;
const IMAGE = 0x2c;
const TRAILER = 0x3b;
const loopExtensions = new Set(["NETSCAPE2.0", "ANIMEXTS1.0"]);

async function cleanGif(file: MediaReader, out: Pieces): Promise<void> {
  let offset = 13 + getColorTableBytes((await readExactly(file, 10, 1))[0]);
  out.keep(0, offset);
  let control: { from: number; to: number } | undefined;
  let hasLoop = false;
  for (;;) {
    const [kind] = await readExactly(file, offset, 1);
    if (kind === TRAILER) return out.keep(offset, offset + 1);
    if (kind === IMAGE) {
      if (control) out.keep(control.from, control.to);
      control = undefined;
      const end = await findBlocksEnd(file, offset + 11 + getColorTableBytes((await readExactly(file, offset + 9, 1))[0]));
      out.keep(offset, end);
      offset = end;
      continue;
    }
    if (kind !== EXTENSION) throw new NotCleanableError("unknown GIF block");
    const head = await readExactly(file, offset, 8);
    const end = await findBlocksEnd(file, offset + 2);
    if (head[1] === 0xf9) {
      if (head[2] !== 4 || head[7] !== 0) throw new NotCleanableError("graphic control extension with an invalid length");
      control = { from: offset, to: offset + 8 };
    } else if (head[1] === 0xff && head[2] === 11 && !hasLoop) {
      const content = await readExactly(file, offset + 3, Math.min(16, file.size - offset - 3));
      const name = content.toString("latin1", 0, 11);
      if (loopExtensions.has(name) && content[11] === 3 && content[12] === 1) {
        out.add(Buffer.concat([Buffer.from([EXTENSION, 0xff, 11]), content.subarray(0, 15), Buffer.from([0])]));
        hasLoop = true;
      }
    }
    offset = end;
  }
}

function getColorTableBytes(flags = 0): number {
  return flags & 0x80 ? 3 * 2 ** ((flags & 7) + 1) : 0;
}

async function findBlocksEnd(file: MediaReader, from: number): Promise<number> {
  for (let start = from; ;) {
    const bytes = await file.read(start, 4096);
    if (bytes.length === 0) throw new NotCleanableError("the image has no end");
    let offset = 0;
    while (offset < bytes.length) {
      const length = bytes[offset] ?? 0;
      offset += 1 + length;
      if (length === 0) return start + offset;
    }
    start += offset;
  }
}

// Removes tags, images and comments from MP3 and FLAC. Encoded audio is unchanged.

async function cleanMp3(file: MediaReader, out: Pieces): Promise<void> {
  const start = await findId3End(file);
  if (!isAudioFrame(await readExactly(file, start, 4))) throw new NotCleanableError("no audio frame after the tag");
  out.keep(start, await findTagStart(file));
}

/** True for the header of an MPEG layer III frame without forbidden field values. */
function isAudioFrame([first = 0, second = 0, third = 0, fourth = 0]: Uint8Array): boolean {
  const isLayer3 = first === 0xff && (second & 0xe6) === 0xe2 && (second & 0x18) !== 0x08;
  const bitrate = third >> 4;
  return isLayer3 && bitrate > 0 && bitrate < 15 && (third & 0x0c) !== 0x0c && (fourth & 3) !== 2;
}

async function findId3End(file: MediaReader): Promise<number> {
  for (let offset = 0; ;) {
    const head = await file.read(offset, 10);
    if (head.length < 10 || head.toString("latin1", 0, 3) !== "ID3") return offset;
    const size = [6, 7, 8, 9].reduce((sum, index) => (sum << 7) | ((head[index] ?? 0) & 0x7f), 0);
    offset += 10 + size + ((head[5] ?? 0) & 0x10 ? 10 : 0);
  }
}

const TAIL_BYTES = 4096;
/** Lyrics3, a second APE or ID3v1 tag, extended ID3v1, and ID3v2 after the audio. */
const unsupportedTags = /LYRICS200|LYRICSEND|APETAGEX|TAG\+|TAG[^]{125}$|3DI[^]{7}$/;

/** Returns where the tags at the end of the file start: ID3v1, and APE before it. */
async function findTagStart(file: MediaReader): Promise<number> {
  let end = file.size;
  if (end >= 128 && (await readExactly(file, end - 128, 3)).toString("latin1") === "TAG") end -= 128;
  const footer = end >= 32 ? await readExactly(file, end - 32, 32) : Buffer.alloc(32);
  if (footer.toString("latin1", 0, 8) === "APETAGEX") {
    const hasHeader = (footer.readUInt32LE(20) & 0x80000000) !== 0;
    end -= footer.readUInt32LE(12) + (hasHeader ? 32 : 0);
    if (end < 0) throw new NotCleanableError("a tag is longer than the file");
  }
  const tail = (await file.read(Math.max(0, end - TAIL_BYTES), Math.min(end, TAIL_BYTES))).toString("latin1");
  if (unsupportedTags.test(tail)) throw new NotCleanableError("unsupported tag");
  return end;
}

const STREAM_INFO_BYTES = 34;

async function cleanFlac(file: MediaReader, out: Pieces): Promise<void> {
  let info: Buffer | undefined;
  let offset = 4;
  for (let isLast = false; !isLast;) {
    const head = await readExactly(file, offset, 4);
    isLast = ((head[0] ?? 0) & 0x80) !== 0;
    const length = head.readUIntBE(1, 3);
    if (((head[0] ?? 0) & 0x7f) === 0) {
      if (length !== STREAM_INFO_BYTES || info) throw new NotCleanableError("invalid STREAMINFO block");
      info = await readExactly(file, offset + 4, length);
    }
    offset += 4 + length;
  }
  if (!info) throw new NotCleanableError("missing STREAMINFO block");
  out.add(Buffer.concat([Buffer.from("fLaC\x80\0\0\x22", "latin1"), info]));
  out.keep(offset, await findTagStart(file));
}
