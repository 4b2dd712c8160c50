// Reads a picture's existing mask: the service's mask layer, or the picture's own transparency. Never throws; ignores masks of another size.

import { callApi } from "@/lib/browser/api";
import { createViewUrl, withQuery } from "@/lib/browser/urls";
import { detectPictureKind, listParts, readOrientation } from "@/lib/shared/picture-size";
import { type Coverage } from "../drawing/coverage";
import { type Size } from "../drawing/geometry";
import { type MaskEncoding } from "./encode-png";
import { fetchFile, type FetchOptions, type MaskSource } from "./picture-file";
import { readInWorker } from "./worker-client";

/** The origin of the initial mask. `unread`: it exists, but could not be read. */
export type Earlier = "none" | "layers" | "alpha" | "unread";

/** The name of the layer; undefined if there is none. */
export async function findLayer({ files, connection, target }: MaskSource, { signal }: FetchOptions): Promise<string | undefined> {
  if (target) return undefined;
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
  const fetched = await fetchFile(createViewUrl({ filename: layer, type: "input", connection }), { signal });
  const coverage = fetched.ok ? await readMask(fetched.value, "layer", size) : "unreadable";
  return typeof coverage === "object" ? coverage : undefined;
}

export async function readExistingMask(
  source: MaskSource,
  file: Blob,
  size: Size,
  options: FetchOptions,
): Promise<{ coverage?: Coverage; from: Earlier }> {
  // A masked picture always has an alpha channel.
  if (!(await mayBeTransparent(file))) return { from: "none" };
  const layer = await findLayer(source, options);
  const coverage = layer && (await readLayer(layer, size, source, options));
  if (coverage) return { coverage, from: "layers" };
  const ownPicture = await readMask(file, "picture", size);
  if (typeof ownPicture === "object") return { coverage: ownPicture, from: "alpha" };
  return { from: layer || ownPicture === "unreadable" ? "unread" : "none" };
}

async function readMask(file: Blob, kind: "picture" | "layer", size: Size): Promise<Coverage | "nothing" | "unreadable"> {
  const coverage = await readInWorker(file, kind).catch(() => "unreadable" as const);
  if (coverage === "unreadable" || coverage === undefined) return coverage ?? "nothing";
  return coverage.width === size.width && coverage.height === size.height ? coverage : "unreadable";
}

/** PNG colour types with an alpha channel: grey, and colour. */
const ALPHA_COLOR_TYPES: readonly number[] = [4, 6];

/**
 * Whether any pixel of a file may be transparent, by its header alone, which avoids decoding large photographs. False only if certain.
 */
export async function mayBeTransparent(file: Blob): Promise<boolean> {
  const bytes = await readBytes(file);
  const kind = detectPictureKind(bytes);
  if (kind !== "png") return kind !== "jpeg";
  if (ALPHA_COLOR_TYPES.includes(bytes[25] ?? 0)) return true;
  for (const { name } of listParts(bytes, kind)) if (name === "tRNS" || name === "IDAT") return name === "tRNS";
  return true;
}

// Browsers apply the EXIF orientation; a service may store the picture unrotated.

/** Browsers rotate every picture by its EXIF orientation, except WebP. */
export async function isRotatedWebp(file: Blob): Promise<boolean> {
  const bytes = await readBytes(file);
  return detectPictureKind(bytes) === "webp" && (readOrientation(bytes) ?? 1) > 1;
}

/** How to write the mask; undefined to write it as drawn. `isShownUpright`: the picture is shown rotated, even if it is a WebP. */
export async function getMaskEncoding(file: Blob, ofStoredPixels: boolean, isShownUpright = false): Promise<MaskEncoding | undefined> {
  const bytes = await readBytes(file);
  const orientation = readOrientation(bytes) ?? 1;
  if (orientation === 1) return undefined;
  const isTurned = isShownUpright || detectPictureKind(bytes) !== "webp";
  return isTurned && !ofStoredPixels ? undefined : { orientation, isTurned };
}

async function readBytes(file: Blob): Promise<Uint8Array> {
  return new Uint8Array(await file.arrayBuffer());
}
