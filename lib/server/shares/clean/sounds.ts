// Removes tags, images and comments from MP3 and FLAC. Encoded audio is unchanged.

import "server-only";
import { type MediaReader, NotCleanableError, type Pieces, readExactly } from "./pieces";

export async function cleanMp3(file: MediaReader, out: Pieces): Promise<void> {
  const start = await findId3End(file);
  if (!isFrame(await readExactly(file, start, 4))) throw new NotCleanableError("no sound follows the tag");
  out.keep(start, await findTagStart(file));
}

/** The header of an MPEG audio frame of layer III, without forbidden field values. */
export function isFrame([first = 0, second = 0, third = 0, fourth = 0]: Uint8Array): boolean {
  const isLayer3 = first === 0xff && (second & 0xe6) === 0xe2 && (second & 0x18) !== 0x08;
  const bitrate = third >> 4;
  return isLayer3 && bitrate > 0 && bitrate < 15 && (third & 0x0c) !== 0x0c && (fourth & 3) !== 2;
}

async function findId3End(file: MediaReader): Promise<number> {
  for (let at = 0; ;) {
    const head = await file.read(at, 10);
    if (head.length < 10 || head.toString("latin1", 0, 3) !== "ID3") return at;
    const size = [6, 7, 8, 9].reduce((sum, index) => (sum << 7) | ((head[index] ?? 0) & 0x7f), 0);
    at += 10 + size + ((head[5] ?? 0) & 0x10 ? 10 : 0);
  }
}

const TAIL_BYTES = 4096;
/** Lyrics3, a second APE or ID3v1, its longer form, and ID3v2 after the audio. */
const otherTags = /LYRICS200|LYRICSEND|APETAGEX|TAG\+|TAG[^]{125}$|3DI[^]{7}$/;

/** Finds the start of the tags at the end: ID3v1, and APE before it. */
async function findTagStart(file: MediaReader): Promise<number> {
  let end = file.size;
  if (end >= 128 && (await readExactly(file, end - 128, 3)).toString("latin1") === "TAG") end -= 128;
  const foot = end >= 32 ? await readExactly(file, end - 32, 32) : Buffer.alloc(32);
  if (foot.toString("latin1", 0, 8) === "APETAGEX") {
    const hasHead = (foot.readUInt32LE(20) & 0x80000000) !== 0;
    end -= foot.readUInt32LE(12) + (hasHead ? 32 : 0);
    if (end < 0) throw new NotCleanableError("a tag is longer than the file");
  }
  const tail = (await file.read(Math.max(0, end - TAIL_BYTES), Math.min(end, TAIL_BYTES))).toString("latin1");
  if (otherTags.test(tail)) throw new NotCleanableError("a tag of another kind");
  return end;
}

const STREAM_INFO_BYTES = 34;

export async function cleanFlac(file: MediaReader, out: Pieces): Promise<void> {
  let info: Buffer | undefined;
  let at = 4;
  for (let isLast = false; !isLast;) {
    const head = await readExactly(file, at, 4);
    isLast = ((head[0] ?? 0) & 0x80) !== 0;
    const length = head.readUIntBE(1, 3);
    if (((head[0] ?? 0) & 0x7f) === 0) {
      if (length !== STREAM_INFO_BYTES || info) throw new NotCleanableError("another head");
      info = await readExactly(file, at + 4, length);
    }
    at += 4 + length;
  }
  if (!info) throw new NotCleanableError("no head");
  out.add(Buffer.concat([Buffer.from("fLaC\x80\0\0\x22", "latin1"), info]));
  out.keep(at, await findTagStart(file));
}
