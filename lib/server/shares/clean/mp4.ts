// Removes tags, names and times from MP4 and MOV. They are overwritten in place, so that all offsets remain valid.
// Every kept box around the samples has exactly the length that its fields require.

import "server-only";
import { getOwn } from "@/lib/contract/json/json";
import { type MediaReader, NotCleanableError, type Pieces, readExactly } from "./pieces";

/** Boxes that are kept, by parent. All others are blanked. */
const allowedBoxes: Readonly<Record<string, ReadonlySet<string>>> = {
  "": new Set(["ftyp", "styp", "moov", "moof", "mdat", "sidx"]),
  moov: new Set(["mvhd", "trak", "mvex"]),
  mvex: new Set(["mehd", "trex"]),
  trak: new Set(["tkhd", "edts", "mdia"]),
  edts: new Set(["elst"]),
  mdia: new Set(["mdhd", "hdlr", "minf"]),
  minf: new Set(["vmhd", "smhd", "hdlr", "dinf", "stbl"]),
  dinf: new Set(["dref"]),
  // Sample descriptions, positions and durations.
  stbl: new Set(["stsd", "stts", "ctts", "cslg", "stsc", "stsz", "stz2", "stco", "co64", "stss", "sbgp", "sgpd"]),
  moof: new Set(["mfhd", "traf"]),
  traf: new Set(["tfhd", "tfdt", "trun", "sbgp", "sgpd"]),
  // Decoder configuration in a sample description.
  sample: new Set([
    "avcC",
    "hvcC",
    "av1C",
    "vpcC",
    "esds",
    "dOps",
    "dac3",
    "dec3",
    "alac",
    "wave",
    "pasp",
    "clap",
    "btrt",
    "fiel",
    "colr",
    "chan",
  ]),
  wave: new Set(["frma", "mp4a", "esds", "enda", "alac", "\0\0\0\0"]),
};
const timedBoxes = new Set(["mvhd", "tkhd", "mdhd"]);
/** Other tracks, such as text, locations or sensor data, could identify the author of the video. */
const allowedHandlers = new Set(["vide", "soun"]);

/** Returns the content length that the first fields require, or undefined if they are invalid. */
type GetLength = (fields: {
  version: number;
  flags: number;
  u16: (offset: number) => number;
  u32: (offset: number) => number;
}) => number | undefined;
const lengthByEntryCount =
  (entryBytes: number): GetLength =>
  ({ u32 }) =>
    8 + u32(4) * entryBytes;
const lengthByVersion =
  (shortLength: number, longLength: number): GetLength =>
  ({ version }) =>
    version === 1 ? longLength : shortLength;
const fixedLength = (length: number): GetLength => lengthByVersion(length, length);
const countBits = (flags: number, ...bits: number[]) => bits.filter((bit) => (flags & bit) !== 0).length;
/** "roll" and "prol": how many samples a decoder needs for recovery. */
const isRoll = (type: number) => type === 0x726f6c6c || type === 0x70726f6c;

const boxLengths: Readonly<Record<string, GetLength>> = {
  mvhd: lengthByVersion(100, 112),
  tkhd: lengthByVersion(84, 96),
  mdhd: lengthByVersion(24, 36),
  mehd: lengthByVersion(8, 12),
  trex: fixedLength(24),
  elst: ({ version, u32 }) => 8 + u32(4) * (version === 1 ? 20 : 12),
  vmhd: fixedLength(12),
  smhd: fixedLength(8),
  sidx: ({ version, u16 }) => (version === 1 ? 32 + u16(30) * 12 : 24 + u16(22) * 12),
  stts: lengthByEntryCount(8),
  ctts: lengthByEntryCount(8),
  cslg: lengthByVersion(24, 44),
  stsc: lengthByEntryCount(12),
  stsz: ({ u32 }) => 12 + (u32(4) === 0 ? u32(8) * 4 : 0),
  stz2: ({ u32 }) => 12 + Math.ceil((u32(8) * (u32(4) & 0xff)) / 8),
  stco: lengthByEntryCount(4),
  co64: lengthByEntryCount(8),
  stss: lengthByEntryCount(4),
  sbgp: ({ version, u32 }) => (version === 0 && isRoll(u32(4)) ? 12 + u32(8) * 8 : undefined),
  sgpd: ({ version, u32 }) => (version === 1 && isRoll(u32(4)) && u32(8) === 2 ? 16 + u32(12) * 2 : undefined),
  mfhd: fixedLength(8),
  tfhd: ({ flags }) => 8 + 8 * countBits(flags, 0x1) + 4 * countBits(flags, 0x2, 0x8, 0x10, 0x20),
  tfdt: lengthByVersion(8, 12),
  trun: ({ flags, u32 }) => 8 + 4 * countBits(flags, 0x1, 0x4) + 4 * u32(4) * countBits(flags, 0x100, 0x200, 0x400, 0x800),
  pasp: fixedLength(8),
  clap: fixedLength(32),
  btrt: fixedLength(12),
  fiel: fixedLength(2),
  chan: ({ u32 }) => 16 + u32(12) * 20,
  frma: fixedLength(4),
  mp4a: fixedLength(4),
  enda: fixedLength(2),
  "\0\0\0\0": fixedLength(0),
  // nclx and nclc contain colour space numbers. Profiles can contain text and are blanked.
  colr: ({ u32 }) => (u32(0) === 0x6e636c78 ? 11 : u32(0) === 0x6e636c63 ? 10 : undefined),
};
/** Boxes that playback doesn't need. */
const optionalBoxes = new Set(["sbgp", "sgpd", "colr"]);

type ParentBox = { parent: string; from: number; to: number; handler?: string };

export async function cleanMp4(file: MediaReader, out: Pieces): Promise<void> {
  await walkBoxes(file, out, { parent: "", from: 0, to: file.size });
}

async function walkBoxes(file: MediaReader, out: Pieces, { parent, from, to, handler: parentHandler = "" }: ParentBox): Promise<void> {
  const allowedChildBoxes = getOwn(allowedBoxes, parent);
  let isAllowed = parent !== "mdia";
  let handler = parentHandler;
  for (let offset = from; offset < to;) {
    const head = await readExactly(file, offset, 8);
    const type = head.toString("latin1", 4);
    const shortSize = head.readUInt32BE(0);
    const headEnd = offset + (shortSize === 1 ? 16 : 8);
    const size =
      shortSize === 1 ? Number((await readExactly(file, offset + 8, 8)).readBigUInt64BE()) : shortSize === 0 ? to - offset : shortSize;
    const end = offset + size;
    if (end < headEnd || end > to) throw new NotCleanableError("a box exceeds its parent");
    const hasValidLength = await hasRequiredLength(file, type, { from: headEnd, to: end });
    if (!allowedChildBoxes?.has(type) || (!hasValidLength && optionalBoxes.has(type))) {
      out.keep(offset, offset + 4);
      out.add(Buffer.from("free", "latin1"));
      out.keep(offset + 8, headEnd);
      out.addZeros(end - headEnd);
    } else if (!hasValidLength) {
      throw new NotCleanableError("a box has an invalid length");
    } else if (getOwn(allowedBoxes, type)) {
      out.keep(offset, headEnd);
      await walkBoxes(file, out, { parent: type, from: headEnd, to: end, handler });
    } else if (type === "stsd") {
      out.keep(offset, headEnd);
      await copySampleEntries(file, out, { from: headEnd, to: end, handler });
    } else if (timedBoxes.has(type)) {
      const timeBytes = (await readExactly(file, headEnd, 1))[0] === 1 ? 16 : 8;
      out.keep(offset, headEnd + 4);
      out.addZeros(timeBytes);
      out.keep(headEnd + 4 + timeBytes, end);
    } else if (type === "hdlr") {
      if (parent === "mdia") {
        handler = (await readExactly(file, headEnd + 8, 4)).toString("latin1");
        isAllowed = allowedHandlers.has(handler);
      }
      if (!isAllowed) break;
      // The track kind is followed by reserved bytes and a name.
      const nameStart = Math.min(headEnd + 12, end);
      out.keep(offset, nameStart);
      out.addZeros(end - nameStart);
    } else if (type === "ftyp" || type === "styp") {
      out.keep(offset, headEnd);
      await copyBrands(file, out, { from: headEnd, to: end });
    } else if (type === "dref") {
      await checkReferences(file, headEnd, end);
      out.keep(offset, end);
    } else out.keep(offset, end);
    offset = end;
  }
  if (!isAllowed) throw new NotCleanableError("a track is neither audio nor video");
}

const FIELD_BYTES = 32;

async function hasRequiredLength(file: MediaReader, type: string, { from, to }: { from: number; to: number }): Promise<boolean> {
  const getLength = getOwn(boxLengths, type);
  if (!getLength) return true;
  // Fields beyond the end of a short box are read as zero. Its length is wrong anyway.
  const fields = Buffer.concat([await readExactly(file, from, Math.min(FIELD_BYTES, to - from)), Buffer.alloc(FIELD_BYTES)]);
  const [version = 0] = fields;
  return (
    getLength({
      version,
      flags: fields.readUIntBE(1, 3),
      u16: (offset) => fields.readUInt16BE(offset),
      u32: (offset) => fields.readUInt32BE(offset),
    }) ===
    to - from
  );
}

const MAX_ENTRIES = 16;
/** Length of an entry's fields before its boxes. QuickTime audio versions 1 and 2 have more fields. */
const VIDEO_FIELD_BYTES = 78;
const audioFieldBytes = [28, 44, 64];

async function copySampleEntries(file: MediaReader, out: Pieces, { from, to, handler }: Omit<ParentBox, "parent">): Promise<void> {
  const count = (await readExactly(file, from, 8)).readUInt32BE(4);
  if (count > MAX_ENTRIES) throw new NotCleanableError("too many sample descriptions");
  out.keep(from, from + 8);
  let offset = from + 8;
  for (let index = 0; index < count; index++) {
    const end = offset + (await readExactly(file, offset, 4)).readUInt32BE();
    const fieldsStart = offset + 8;
    const isVideo = handler === "vide";
    const fieldBytes = isVideo ? VIDEO_FIELD_BYTES : audioFieldBytes[(await readExactly(file, fieldsStart + 8, 2)).readUInt16BE()];
    if (fieldBytes === undefined || fieldsStart + fieldBytes > end || end > to) throw new NotCleanableError("unknown sample description");
    // Blanks the reserved bytes before the data reference index.
    out.keep(offset, fieldsStart);
    out.addZeros(6);
    out.keep(fieldsStart + 6, isVideo ? fieldsStart + 8 : fieldsStart + 12);
    out.addZeros(isVideo ? 16 : 4);
    if (isVideo) {
      out.keep(fieldsStart + 24, fieldsStart + 42);
      out.addZeros(32);
      out.keep(fieldsStart + 74, fieldsStart + fieldBytes);
    } else out.keep(fieldsStart + 16, fieldsStart + fieldBytes);
    await walkBoxes(file, out, { parent: "sample", from: fieldsStart + fieldBytes, to: end });
    offset = end;
  }
  if (offset !== to) throw new NotCleanableError("unexpected bytes after the sample descriptions");
}

const MAX_BRANDS = 32;
const knownBrands = /^(iso[a-z0-9]|mp4[12]|avc1|av01|hvc1|hev1|qt {2}|M4[ABPV] |MSNV|dash|msdh|msix|cmf[a-z0-9]|3g[2p][a-z0-9]|f4v |mmp4)$/;

/** Copies known compatible brands. Blanks unknown ones and the writer's version. */
async function copyBrands(file: MediaReader, out: Pieces, { from, to }: { from: number; to: number }): Promise<void> {
  const content = await readExactly(file, from, Math.min(to - from, 4 * MAX_BRANDS));
  for (let offset = 0; offset + 4 <= content.length; offset += 4) {
    if (offset !== 4 && knownBrands.test(content.toString("latin1", offset, offset + 4))) out.keep(from + offset, from + offset + 4);
    else out.addZeros(4);
  }
  out.addZeros(to - from - (content.length - (content.length % 4)));
}

/** Samples must be in this file, which is referenced without a path. */
async function checkReferences(file: MediaReader, from: number, to: number): Promise<void> {
  const count = (await readExactly(file, from, 8)).readUInt32BE(4);
  if (to - from !== 8 + count * 12 || count > 16) throw new NotCleanableError("samples are in another file");
  for (let offset = from + 8; offset < to; offset += 12)
    if (!(await readExactly(file, offset, 12)).equals(SELF_REFERENCE)) throw new NotCleanableError("samples are in another file");
}

const SELF_REFERENCE = Buffer.from("\0\0\0\x0curl \0\0\0\x01", "latin1");
