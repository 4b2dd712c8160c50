// The camera's rotation as stored in the file: 1 to 8, as in EXIF. The picture is rotated on screen; a service may store it unrotated.
// Guarantees: never throws on a damaged file; 1 if nothing is noted; reads a few kilobytes, never a pixel.

import { orientationIn } from "@/lib/shared/picture-size";
import { letters, readBytes } from "./read-bytes";

/** How a mask must be written so that its rows match the original's stored pixels and note the same rotation. */
export type Hold = {
  orientation: number;
  /** The mask was drawn over the turned picture, and is turned back to the order of the stored pixels. */
  isTurned: boolean;
};

const PNG = 0x89504e47;
const MOST_PARTS = 1_000;
/** Enough for the block's first directory, which has the orientation among its first entries. */
const MOST_EXIF = 4_096;

/** Browsers show a WebP as it is stored, and rotate every other picture. */
export async function isTurnedWebp(file: Blob): Promise<boolean> {
  const { kind, block } = await findExif(file);
  return kind === "webp" && block !== undefined && orientationOf(block) > 1;
}

/** `isShownUpright`: true for WebP too. Undefined: the mask is written as it was drawn. */
export async function holdOf(file: Blob, ofStoredPixels: boolean, isShownUpright = false): Promise<Hold | undefined> {
  const { kind, block } = await findExif(file);
  const orientation = block ? orientationOf(block) : 1;
  if (orientation === 1) return undefined;
  const isTurned = isShownUpright || kind !== "webp";
  return isTurned && !ofStoredPixels ? undefined : { orientation, isTurned };
}

async function findExif(file: Blob): Promise<{ kind: "jpeg" | "webp" | "other"; block?: DataView }> {
  const head = await readBytes(file, 0, 12);
  if (head.getUint16(0) === 0xffd8) return { kind: "jpeg", block: await inJpeg(file) };
  if (letters(head, 0, 4) === "RIFF" && letters(head, 8, 4) === "WEBP") return { kind: "webp", block: await inWebp(file) };
  return { kind: "other", block: head.getUint32(0) === PNG ? await inPng(file) : undefined };
}

async function inPng(file: Blob): Promise<DataView | undefined> {
  let at = 8;
  for (let part = 0; part < MOST_PARTS && at < file.size; part += 1) {
    const begin = await readBytes(file, at, 8);
    if (letters(begin, 4, 4) === "eXIf") return readBytes(file, at + 8, MOST_EXIF);
    at += begin.getUint32(0) + 12;
  }
  return undefined;
}

async function inJpeg(file: Blob): Promise<DataView | undefined> {
  let at = 2;
  for (let part = 0; part < MOST_PARTS; part += 1) {
    const begin = await readBytes(file, at, 10);
    const marker = begin.getUint16(0);
    // From the scan marker on there are pixels.
    if (marker < 0xff01 || marker === 0xffda) return undefined;
    if (marker === 0xffe1 && letters(begin, 4, 6) === "Exif\0\0") return readBytes(file, at + 10, MOST_EXIF);
    at += 2 + begin.getUint16(2);
  }
  return undefined;
}

async function inWebp(file: Blob): Promise<DataView | undefined> {
  let at = 12;
  for (let part = 0; part < MOST_PARTS && at < file.size; part += 1) {
    const begin = await readBytes(file, at, 14);
    if (letters(begin, 0, 4) === "EXIF") return readBytes(file, at + 8 + (letters(begin, 8, 6) === "Exif\0\0" ? 6 : 0), MOST_EXIF);
    const length = begin.getUint32(4, true);
    at += 8 + length + (length % 2);
  }
  return undefined;
}

function orientationOf({ buffer, byteOffset, byteLength }: DataView): number {
  return orientationIn(new Uint8Array(buffer, byteOffset, byteLength));
}
