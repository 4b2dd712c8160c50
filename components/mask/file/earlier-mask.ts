// The mask that a picture already has: the layer that a service keeps for it, or its own transparency.
// Guarantees: never throws; ignores a mask of another size.

import { callApi } from "@/lib/browser/api";
import { viewUrl, withQuery } from "@/lib/browser/urls";
import { orientationIn } from "@/lib/shared/picture-size";
import { type Coverage } from "../drawing/coverage";
import { type Size } from "../drawing/geometry";
import { type Hold } from "./encode-png";
import { fetchFile, type FetchOptions, type MaskSource } from "./picture-file";
import { readInWorker } from "./worker-client";

/** Where the initial mask came from; `unread`: there is one, but it could not be read. */
export type Earlier = "none" | "layers" | "alpha" | "unread";

/** The name of the layer; undefined where there is none. */
export async function findLayer({ files, connection, place }: MaskSource, { signal }: FetchOptions): Promise<string | undefined> {
  if (place) return undefined;
  const address = withQuery("/api/console/mask-layers", { filename: files[0]?.filename, connection });
  const layers = await callApi<{ mask?: string | null }>(address, { signal });
  return layers.ok ? (layers.value?.mask ?? undefined) : undefined;
}

export async function readLayer(
  layer: string,
  size: Size,
  { connection }: MaskSource,
  { signal }: FetchOptions,
): Promise<Coverage | undefined> {
  const fetched = await fetchFile(viewUrl({ filename: layer, type: "input", connection }), { signal });
  const coverage = fetched.ok ? await readOrNothing(fetched.value, "layer", size) : "unreadable";
  return typeof coverage === "object" ? coverage : undefined;
}

export async function earlierMask(
  source: MaskSource,
  file: Blob,
  size: Size,
  options: FetchOptions,
): Promise<{ coverage?: Coverage; from: Earlier }> {
  // A masked picture always has an alpha channel.
  if (!(await mayBeClear(file))) return { from: "none" };
  const layer = await findLayer(source, options);
  const coverage = layer && (await readLayer(layer, size, source, options));
  if (coverage) return { coverage, from: "layers" };
  const own = await readOrNothing(file, "picture", size);
  if (typeof own === "object") return { coverage: own, from: "alpha" };
  return { from: layer || own === "unreadable" ? "unread" : "none" };
}

async function readOrNothing(file: Blob, kind: "picture" | "layer", size: Size): Promise<Coverage | "nothing" | "unreadable"> {
  const coverage = await readInWorker(file, kind).catch(() => "unreadable" as const);
  if (coverage === "unreadable" || coverage === undefined) return coverage ?? "nothing";
  return coverage.width === size.width && coverage.height === size.height ? coverage : "unreadable";
}

const PNG = [0x89, 0x50, 0x4e, 0x47];
/** PNG colour types with an alpha channel: grey, and colour. */
const WITH_ALPHA: readonly number[] = [4, 6];
/** A PNG has few chunks before its pixels. */
const MAX_PARTS = 1_000;

/**
 * Whether any pixel of a file may be transparent, by its header: a large photograph need not be decoded to learn that it holds no mask.
 * False only where that is certain.
 */
export async function mayBeClear(file: Blob): Promise<boolean> {
  const head = await readBytes(file, 0, 26);
  if (head.getUint16(0) === 0xffd8) return false;
  if (PNG.some((byte, at) => head.getUint8(at) !== byte)) return true;
  if (WITH_ALPHA.includes(head.getUint8(25))) return true;
  let at = 8;
  for (let part = 0; part < MAX_PARTS; part += 1) {
    const begin = await readBytes(file, at, 8);
    const name = letters(begin, 4, 4);
    if (name === "tRNS") return true;
    if (name === "IDAT") return false;
    at += begin.getUint32(0) + 12;
  }
  return true;
}

// The camera's rotation as stored in the file: 1 to 8, as in EXIF. The picture is rotated on screen; a service may store it unrotated.
// Guarantees: never throws on a damaged file; 1 if nothing is noted; reads a few kilobytes, never a pixel.

const PNG_SIGNATURE = 0x89504e47;
/** Enough for the block's first directory, which has the orientation among its first entries. */
const MAX_EXIF = 4_096;

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
  return { kind: "other", block: head.getUint32(0) === PNG_SIGNATURE ? await inPng(file) : undefined };
}

async function inPng(file: Blob): Promise<DataView | undefined> {
  let at = 8;
  for (let part = 0; part < MAX_PARTS && at < file.size; part += 1) {
    const begin = await readBytes(file, at, 8);
    if (letters(begin, 4, 4) === "eXIf") return readBytes(file, at + 8, MAX_EXIF);
    at += begin.getUint32(0) + 12;
  }
  return undefined;
}

async function inJpeg(file: Blob): Promise<DataView | undefined> {
  let at = 2;
  for (let part = 0; part < MAX_PARTS; part += 1) {
    const begin = await readBytes(file, at, 10);
    const marker = begin.getUint16(0);
    // From the scan marker on there are pixels.
    if (marker < 0xff01 || marker === 0xffda) return undefined;
    if (marker === 0xffe1 && letters(begin, 4, 6) === "Exif\0\0") return readBytes(file, at + 10, MAX_EXIF);
    at += 2 + begin.getUint16(2);
  }
  return undefined;
}

async function inWebp(file: Blob): Promise<DataView | undefined> {
  let at = 12;
  for (let part = 0; part < MAX_PARTS && at < file.size; part += 1) {
    const begin = await readBytes(file, at, 14);
    if (letters(begin, 0, 4) === "EXIF") return readBytes(file, at + 8 + (letters(begin, 8, 6) === "Exif\0\0" ? 6 : 0), MAX_EXIF);
    const length = begin.getUint32(4, true);
    at += 8 + length + (length % 2);
  }
  return undefined;
}

function orientationOf({ buffer, byteOffset, byteLength }: DataView): number {
  return orientationIn(new Uint8Array(buffer, byteOffset, byteLength));
}

// Reads a few bytes anywhere in a file. Guarantees: bytes beyond the end are 0.

async function readBytes(file: Blob, from: number, length: number): Promise<DataView> {
  const bytes = new Uint8Array(length);
  bytes.set(new Uint8Array(await file.slice(from, from + length).arrayBuffer()));
  return new DataView(bytes.buffer);
}

function letters(view: DataView, from: number, length: number): string {
  return String.fromCharCode(...new Uint8Array(view.buffer, from, length));
}
