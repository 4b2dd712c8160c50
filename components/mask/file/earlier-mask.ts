// The mask that a picture already has: the layer that a service keeps for it, or its own transparency.
// Guarantees: never throws; ignores a mask of another size.

import { callApi } from "@/lib/browser/api";
import { viewUrl, withQuery } from "@/lib/browser/urls";
import { type Coverage } from "../drawing/coverage";
import { type Size } from "../drawing/geometry";
import { fetchFile, type FetchOptions } from "./fetch-file";
import { type MaskSource } from "./mask-source";
import { letters, readBytes } from "./read-bytes";
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
const MOST_PARTS = 1_000;

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
  for (let part = 0; part < MOST_PARTS; part += 1) {
    const begin = await readBytes(file, at, 8);
    const name = letters(begin, 4, 4);
    if (name === "tRNS") return true;
    if (name === "IDAT") return false;
    at += begin.getUint32(0) + 12;
  }
  return true;
}
