// Removes metadata from MP4 and Matroska files.

import "server-only";
import { own } from "@/lib/contract/json/own";
import { exactly, NotCleanable, type Pieces, type Reading } from "./pieces";

/** The boxes that are kept, by their parent; all others are blanked. */
const boxes: Readonly<Record<string, ReadonlySet<string>>> = {
  "": new Set(["ftyp", "styp", "moov", "moof", "mdat", "sidx"]),
  moov: new Set(["mvhd", "trak", "mvex"]),
  trak: new Set(["tkhd", "edts", "mdia"]),
  mdia: new Set(["mdhd", "hdlr", "minf"]),
  minf: new Set(["vmhd", "smhd", "hdlr", "dinf", "stbl"]),
  dinf: new Set(["dref"]),
  // Where each sample is, how long it lasts and how it is decoded.
  stbl: new Set([
    ...["stsd", "stts", "ctts", "cslg", "stsc", "stsz", "stz2", "stco", "co64", "stss", "stsh", "stps", "padb", "stdp", "sdtp"],
    ...["sbgp", "sgpd", "subs", "saiz", "saio"],
  ]),
  moof: new Set(["mfhd", "traf"]),
  traf: new Set(["tfhd", "tfdt", "trun", "sbgp", "sgpd", "subs", "saiz", "saio", "senc", "sdtp"]),
};
const withTimes = new Set(["mvhd", "tkhd", "mdhd"]);
/** Any other track (words, places, sensors, times of day) may identify the maker of the film. */
const shown = new Set(["vide", "soun"]);

export async function cleanMp4(file: Reading, out: Pieces): Promise<void> {
  await walkBoxes(file, out, { parent: "", from: 0, to: file.size });
}

async function walkBoxes(file: Reading, out: Pieces, { parent, from, to }: { parent: string; from: number; to: number }): Promise<void> {
  const known = own(boxes, parent);
  let isShown = parent !== "mdia";
  for (let at = from; at < to;) {
    const head = await exactly(file, at, 8);
    const type = head.toString("latin1", 4);
    const short = head.readUInt32BE(0);
    const headEnd = at + (short === 1 ? 16 : 8);
    const size = short === 1 ? Number((await exactly(file, at + 8, 8)).readBigUInt64BE()) : short === 0 ? to - at : short;
    const end = at + size;
    if (end < headEnd || end > to) throw new NotCleanable("a box is longer than what holds it");
    if (!known?.has(type)) {
      out.keep(at, at + 4);
      out.add(Buffer.from("free", "latin1"));
      out.keep(at + 8, headEnd);
      out.zeros(end - headEnd);
    } else if (own(boxes, type)) {
      out.keep(at, headEnd);
      await walkBoxes(file, out, { parent: type, from: headEnd, to: end });
    } else if (withTimes.has(type)) {
      const isLong = (await exactly(file, headEnd, 1))[0] === 1;
      const times = isLong ? 16 : 8;
      if (headEnd + 4 + times > end) throw new NotCleanable("a box is too short");
      out.keep(at, headEnd + 4);
      out.zeros(times);
      out.keep(headEnd + 4 + times, end);
    } else if (type === "hdlr") {
      if (parent === "mdia") isShown = shown.has((await exactly(file, headEnd + 8, 4)).toString("latin1"));
      if (!isShown) break;
      // The track kind is followed by reserved bytes and a name.
      const rest = Math.min(headEnd + 12, end);
      out.keep(at, rest);
      out.zeros(end - rest);
    } else if (type === "ftyp" || type === "styp") {
      out.keep(at, headEnd);
      await keepBrands(file, out, { from: headEnd, to: end });
    } else if (type === "dref") {
      await checkReferences(file, headEnd, end);
      out.keep(at, end);
    } else out.keep(at, end);
    at = end;
  }
  if (!isShown) throw new NotCleanable("a track of data");
}

const MAX_BRANDS = 32;
const brand = /^(iso[a-z0-9]|mp4[12]|avc1|av01|hvc1|hev1|qt {2}|M4[ABPV] |MSNV|dash|msdh|msix|cmf[a-z0-9]|3g[2p][a-z0-9]|f4v |mmp4)$/;

/** Compatible brands. Unknown ones are blanked, as is the writer's version. */
async function keepBrands(file: Reading, out: Pieces, { from, to }: { from: number; to: number }): Promise<void> {
  const content = await exactly(file, from, Math.min(to - from, 4 * MAX_BRANDS));
  for (let at = 0; at + 4 <= content.length; at += 4) {
    if (at !== 4 && brand.test(content.toString("latin1", at, at + 4))) out.keep(from + at, from + at + 4);
    else out.zeros(4);
  }
  out.zeros(to - from - (content.length - (content.length % 4)));
}

/** Samples must be in this file, without a path to it. */
async function checkReferences(file: Reading, from: number, to: number): Promise<void> {
  const count = (await exactly(file, from, 8)).readUInt32BE(4);
  if (to - from !== 8 + count * 12 || count > 16) throw new NotCleanable("samples are elsewhere");
  for (let at = from + 8; at < to; at += 12)
    if (!(await exactly(file, at, 12)).equals(IN_THIS_FILE)) throw new NotCleanable("samples are elsewhere");
}

const IN_THIS_FILE = Buffer.from("\0\0\0\x0curl \0\0\0\x01", "latin1");

const SEGMENT = 0x18538067;
const INFO = 0x1549a966;
const TRACKS = 0x1654ae6b;
const TRACK = 0xae;
const TRACK_TYPE = 0x83;
const CODEC_PRIVATE = 0x63a2;
const elements: Readonly<Record<number, ReadonlySet<number>>> = {
  // Seek heads, info, tracks, cues, clusters.
  [SEGMENT]: new Set([0x114d9b74, INFO, TRACKS, 0x1c53bb6b, 0x1f43b675]),
  // Time scale and duration; the writing program's names are required, and emptied.
  [INFO]: new Set([0x2ad7b1, 0x4489, 0x4d80, 0x5741]),
  [TRACKS]: new Set([TRACK]),
};
const emptied = new Set([0x4d80, 0x5741]);
/** Removed from a track: its name, and the checksum over the changed content. */
const ofTrack = new Set([0x536e, 0xbf]);

export async function cleanMatroska(file: Reading, out: Pieces): Promise<void> {
  const head = await readElement(file, 0, file.size);
  out.keep(0, head.end);
  const segment = await readElement(file, head.end, file.size);
  if (segment.id !== SEGMENT) throw new NotCleanable("no segment");
  out.keep(head.end, segment.start);
  await walkElements(file, out, { parent: SEGMENT, from: segment.start, to: segment.end });
}

async function walkElements(file: Reading, out: Pieces, { parent, from, to }: { parent: number; from: number; to: number }): Promise<void> {
  let isShown = parent !== TRACK;
  for (let at = from; at < to;) {
    const { id, start, end } = await readElement(file, at, to);
    const isKept = parent === TRACK ? !ofTrack.has(id) : elements[parent]?.has(id) === true;
    if (parent === TRACK && id === TRACK_TYPE) {
      isShown = await isOfShownType(file, start, end);
      if (!isShown) break;
    }
    if (!isKept) blank(out, end - at);
    else if (id === INFO || id === TRACKS || id === TRACK) {
      out.keep(at, start);
      await walkElements(file, out, { parent: id, from: start, to: end });
    } else if (emptied.has(id)) {
      out.keep(at, start);
      out.zeros(end - start);
    } else if (parent === TRACK && id === CODEC_PRIVATE) {
      out.keep(at, start);
      await walkPrivate(file, out, { from: start, to: end });
    } else out.keep(at, end);
    at = end;
  }
  if (!isShown) throw new NotCleanable("a track of data");
}

/** The data that a decoder of sound needs. For FLAC and Vorbis it includes the tags of the file that the sound came from. */
async function walkPrivate(file: Reading, out: Pieces, { from, to }: { from: number; to: number }): Promise<void> {
  const head = await file.read(from, Math.min(to - from, 1024));
  if (head.toString("latin1", 0, 4) === "fLaC") {
    out.keep(from, from + 4);
    for (let at = from + 4; at < to;) {
      const block = await exactly(file, at, 4);
      const end = at + 4 + block.readUIntBE(1, 3);
      if (end > to) throw new NotCleanable("a block is longer than what holds it");
      if (((block[0] ?? 0) & 0x7f) === 0) out.keep(at, end);
      else {
        // The block becomes padding.
        out.add(Buffer.from([((block[0] ?? 0) & 0x80) | 1]));
        out.keep(at + 1, at + 4);
        out.zeros(end - at - 4);
      }
      at = end;
    }
    return;
  }
  // Three packets, of which the second has the tags; the lengths of the first two come before them.
  const lengths: number[] = [0];
  let at = 1;
  for (; head[0] === 2 && at < head.length && lengths.length < 3; at++) {
    lengths.push((lengths.pop() ?? 0) + (head[at] ?? 0));
    if (head[at] !== 255) lengths.push(0);
  }
  const [first = 0, second = 0] = lengths;
  if (head.toString("latin1", at + 1, at + 7) !== "vorbis") return out.keep(from, to);
  const tags = from + at + first;
  const rest = second - 7 - 4 - 4 - 1;
  if (rest < 0 || tags + second > to || (await exactly(file, tags, 7)).toString("latin1") !== "\x03vorbis")
    throw new NotCleanable("the tags of a sound are elsewhere");
  const length = Buffer.alloc(4);
  length.writeUInt32LE(rest);
  // A program name of zeros, and no tag.
  out.keep(from, tags + 7);
  out.add(length);
  out.zeros(rest + 4);
  out.add(Buffer.from([1]));
  out.keep(tags + second, to);
}

/** Pictures (1) and sound (2), as for an MP4. */
async function isOfShownType(file: Reading, from: number, to: number): Promise<boolean> {
  const type = to - from > 8 ? 0 : (await exactly(file, from, to - from)).reduce((sum, byte) => sum * 256 + byte, 0);
  return type === 1 || type === 2;
}

async function readElement(file: Reading, at: number, to: number): Promise<{ id: number; start: number; end: number }> {
  const bytes = await file.read(at, 12);
  const idLength = Math.clz32(bytes[0] ?? 0) - 23;
  if (idLength > 4 || bytes.length < idLength + 1) throw new NotCleanable("an element is broken");
  const sizeLength = Math.clz32(bytes[idLength] ?? 0) - 23;
  if (sizeLength > 8 || bytes.length < idLength + sizeLength) throw new NotCleanable("an element is broken");
  const coded = [...bytes.subarray(idLength, idLength + sizeLength)];
  const size = coded.reduce((sum, byte, index) => sum * 256 + (index === 0 ? byte & (0xff >> sizeLength) : byte), 0);
  const isUnknown = coded.every((byte, index) => (index === 0 ? byte | (0xff & ~(0xff >> sizeLength)) : byte) === 0xff);
  const start = at + idLength + sizeLength;
  if (isUnknown || start + size > to) throw new NotCleanable("an element has no end");
  return { id: bytes.readUIntBE(0, idLength), start, end: start + size };
}

/** An empty element of the same length. */
function blank(out: Pieces, length: number): void {
  const head = Buffer.alloc(length > 128 ? 9 : 2);
  head[0] = 0xec;
  if (head.length === 2) head[1] = 0x80 | (length - 2);
  else {
    head.writeBigUInt64BE(BigInt(length - 9), 1);
    head[1] = 0x01;
  }
  out.add(head);
  out.zeros(length - head.length);
}
