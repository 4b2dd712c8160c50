// MP4 and MOV without tags, names and times. Removed parts are overwritten in place, so every offset in the file stays valid and a player
// can request any part of it.

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
