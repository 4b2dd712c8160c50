// MP4, MOV, WebM and Matroska without their tags, attachments, names and times. What is taken out is overwritten in its place, so that every
// offset in the file still fits and a player can ask for any stretch of it.

import "server-only";
import { exactly, NotCleanable, type Pieces, type Reading } from "./pieces";

/** What is read on, by what holds it; all else is blanked. */
const boxes: Readonly<Record<string, ReadonlySet<string>>> = {
  "": new Set(["ftyp", "styp", "moov", "moof", "mdat", "sidx", "mfra", "pdin", "ssix"]),
  moov: new Set(["mvhd", "trak", "mvex"]),
  trak: new Set(["tkhd", "edts", "mdia", "tref"]),
  mdia: new Set(["mdhd", "hdlr", "minf", "elng"]),
  minf: new Set(["vmhd", "smhd", "hdlr", "dinf", "stbl"]),
  dinf: new Set(["dref"]),
};
const withTimes = new Set(["mvhd", "tkhd", "mdhd"]);
/** A track of anything else (words, places, sensors, times of day) may tell of who made the film. */
const shown = new Set(["vide", "soun"]);

export async function cleanMp4(file: Reading, out: Pieces): Promise<void> {
  await walkBoxes(file, out, { parent: "", from: 0, to: file.size });
}

async function walkBoxes(file: Reading, out: Pieces, { parent, from, to }: { parent: string; from: number; to: number }): Promise<void> {
  const known = boxes[parent];
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
    } else if (boxes[type]) {
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
      if (parent === "mdia" && !shown.has((await exactly(file, headEnd + 8, 4)).toString("latin1")))
        throw new NotCleanable("a track of data");
      const name = headEnd + 24;
      out.keep(at, Math.min(name, end));
      out.zeros(end - name);
    } else if (type === "dref") {
      await checkReferences(file, headEnd, end);
      out.keep(at, end);
    } else out.keep(at, end);
    at = end;
  }
}

/** Where the samples are: in this file, without a path to it. */
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
const elements: Readonly<Record<number, ReadonlySet<number>>> = {
  // Seek heads, info, tracks, cues, clusters.
  [SEGMENT]: new Set([0x114d9b74, INFO, TRACKS, 0x1c53bb6b, 0x1f43b675]),
  // The scale of time and the duration; who wrote the file is required, and emptied.
  [INFO]: new Set([0x2ad7b1, 0x4489, 0x4d80, 0x5741]),
  [TRACKS]: new Set([TRACK]),
};
const emptied = new Set([0x4d80, 0x5741]);
/** Of a track only its name goes, and the sum over what was changed. */
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
  for (let at = from; at < to;) {
    const { id, start, end } = await readElement(file, at, to);
    const isKept = parent === TRACK ? !ofTrack.has(id) : elements[parent]?.has(id) === true;
    if (parent === TRACK && id === TRACK_TYPE) await checkTrackType(file, start, end);
    if (!isKept) blank(out, end - at);
    else if (id === INFO || id === TRACKS || id === TRACK) {
      out.keep(at, start);
      await walkElements(file, out, { parent: id, from: start, to: end });
    } else if (emptied.has(id)) {
      out.keep(at, start);
      out.zeros(end - start);
    } else out.keep(at, end);
    at = end;
  }
}

/** Pictures (1) and sound (2), as of an MP4. */
async function checkTrackType(file: Reading, from: number, to: number): Promise<void> {
  const type = to - from > 8 ? 0 : (await exactly(file, from, to - from)).reduce((sum, byte) => sum * 256 + byte, 0);
  if (type !== 1 && type !== 2) throw new NotCleanable("a track of data");
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

/** An element of nothing, of the same length. */
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
