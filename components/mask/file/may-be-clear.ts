// Whether any pixel of a file can be clear at all, told from its header: a large photograph need not be decoded to learn that it holds no
// mask. Guarantees: false only where it is certain; a few bytes are read, never a pixel.

import { letters, readBytes } from "./read-bytes";

const PNG = [0x89, 0x50, 0x4e, 0x47];
/** Of a PNG with an alpha channel: grey, colours. */
const WITH_ALPHA: readonly number[] = [4, 6];
/** Before its pixels a PNG has a handful of parts. */
const MOST_PARTS = 1_000;

export async function mayBeClear(file: Blob): Promise<boolean> {
  const head = await readBytes(file, 0, 26);
  if (head.getUint16(0) === 0xffd8) return false;
  if (PNG.some((byte, at) => head.getUint8(at) !== byte)) return true;
  if (WITH_ALPHA.includes(head.getUint8(25))) return true;
  let at = 8;
  for (let part = 0; part < MOST_PARTS; part += 1) {
    const begin = await readBytes(file, at, 8);
    const name = letters(begin, 4, 4);
    if (name === "tRNS") return true;
    if (name === "IDAT") return false;
    at += begin.getUint32(0) + 12;
  }
  return true;
}
