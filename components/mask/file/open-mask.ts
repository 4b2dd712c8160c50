// Opens a picture for drawing: its size, preview and existing mask.
// Guarantees: never throws; checks known facts, the length and the header before decoding. If the service serves no files, a preview is shown
// and the mask still has the original's size. An unreadable existing mask is reported.

import { callApi } from "@/lib/browser/api";
import { type ApiFailure } from "@/lib/browser/read-failure";
import { readNaturalSize } from "@/lib/browser/uploads/picture-check";
import { createThumbnailUrl, createViewUrl, type FileName, toShownPictureUrl, withQuery } from "@/lib/browser/urls";
import { isNotFound } from "@/lib/contract/failure";
import { detectPictureKind, listParts, readOrientation } from "@/lib/shared/picture-size";
import { failed, ok, type Result } from "@/lib/shared/result";
import { type Coverage, emptyCoverage, type Size } from "../drawing/coverage";
import { type MaskEncoding } from "./encode-png";
import {
  fetchFile,
  type FetchOptions,
  type FetchRefusal,
  findSizeProblem,
  getFileUrl,
  type MaskSource,
  type ShownPicture,
  showPicture,
  type TooLarge,
} from "./picture-file";

export type OpenedMask = {
  coverage: Coverage;
  /** Absent if it can't be shown. */
  picture?: ShownPicture;
  earlier: Earlier;
  /** For original_ref, most reliable first. */
  refs: readonly FileName[];
  /** Whether the picture is a preview; the mask still has the original's size. */
  isPreview: boolean;
  /** Whether the service does not serve the file. */
  lacksFile?: boolean;
  /** How to encode the mask, if not as drawn. */
  hold?: MaskEncoding;
};

export type OpenRefusal =
  | { kind: "not-picture" }
  | { kind: "broken" }
  | { kind: "unknown-size" }
  | { kind: "too-large"; why: TooLarge }
  /** The local file differs from the service's file. */
  | { kind: "other-file"; bytes: number; expectedBytes: number }
  | { kind: "failed"; failure: ApiFailure };

/** `file`: the picture from this computer, if the service does not serve it. */
export type OpenOptions = FetchOptions & { file?: File };
export type OpenMask = (source: MaskSource, options: OpenOptions) => Promise<Result<OpenedMask, OpenRefusal>>;

export const openMask: OpenMask = async (source, options) => {
  const { facts, files } = source;
  if (options.file) return openLocalFile(source, options.file, options);
  if (facts.isPicture === false) return failed({ kind: "not-picture" });
  const reason = findSizeProblem(facts);
  if (reason) return failed({ kind: "too-large", why: reason });
  let refusal: FetchRefusal | undefined;
  for (const [index, name] of files.entries()) {
    const file = await fetchFile(getFileUrl(source, name), options);
    // The name that worked is tried first when sending the mask.
    if (file.ok) return openFile(source, file.value, [name, ...files.slice(0, index), ...files.slice(index + 1)], options);
    refusal = file.failure;
    if (refusal.kind !== "failed" || refusal.failure.status !== 404) break;
  }
  if (!refusal || refusal.kind === "too-large") return failed(refusal ?? { kind: "broken" });
  // The service lacks GET /api/view, or answers 404 for an existing asset.
  return isNotFound(refusal.failure) && source.assetId ? openPreview(source, source.assetId, options, refusal.failure) : failed(refusal);
};

async function openLocalFile(source: MaskSource, file: File, options: OpenOptions): Promise<Result<OpenedMask, OpenRefusal>> {
  const { facts, files } = source;
  const reason = findSizeProblem({ bytes: file.size });
  if (reason) return failed({ kind: "too-large", why: reason });
  if (facts.bytes !== undefined && facts.bytes !== file.size)
    return failed({ kind: "other-file", bytes: file.size, expectedBytes: facts.bytes });
  const fileResult = await openFile(source, file, files, options);
  return fileResult.ok ? ok({ ...fileResult.value, lacksFile: true }) : fileResult;
}

async function openFile(
  source: MaskSource,
  file: Blob,
  refs: readonly FileName[],
  options: OpenOptions,
): Promise<Result<OpenedMask, OpenRefusal>> {
  const upright = options.file ? undefined : await uprightWebp(file, source, refs, options);
  const blob = upright ?? file;
  const size = await readNaturalSize(blob);
  if (!size || size.width === 0 || size.height === 0) return failed({ kind: file.type.startsWith("image/") ? "broken" : "not-picture" });
  const reason = findSizeProblem(size);
  if (reason) return failed({ kind: "too-large", why: reason });
  const earlier = await readExistingMask(source, blob, size, options);
  const encoding = await getMaskEncoding(file, source.keepsPixels === true, upright !== undefined);
  // The picture without its mask would be upright, but this original is not.
  const unmasked = earlier.coverage && !encoding && !upright ? await withoutMask(source, refs, size, options) : undefined;
  const picture = await showPicture(unmasked?.file ?? blob, size);
  if (!picture) return failed({ kind: "broken" });
  return ok({
    coverage: earlier.coverage ?? emptyCoverage(size),
    picture,
    earlier: earlier.from,
    refs: unmasked?.ref ? [unmasked.ref, ...refs] : refs,
    isPreview: false,
    hold: encoding,
  });
}

/** The picture re-encoded by the console, in the orientation in which a node loads it. */
async function uprightWebp(
  file: Blob,
  source: MaskSource,
  [name]: readonly FileName[],
  { signal }: FetchOptions,
): Promise<Blob | undefined> {
  const address = name && getFileUrl(source, name);
  if (address === undefined || !(await isRotatedWebp(file))) return undefined;
  const pictureUrl = toShownPictureUrl(address);
  const reencoded = pictureUrl === address ? undefined : await fetchFile(pictureUrl, { signal });
  return reencoded?.ok && reencoded.value.size > 0 ? reencoded.value : undefined;
}

/** The picture that the mask was drawn over: the original, or the same colours without alpha. */
async function withoutMask(
  source: MaskSource,
  refs: readonly FileName[],
  size: Size,
  { signal }: FetchOptions,
): Promise<{ file: Blob; ref?: FileName } | undefined> {
  const isSame = async (file: Blob) => {
    const pictureSize = (await getMaskEncoding(file, false)) ? undefined : await readNaturalSize(file);
    return pictureSize?.width === size.width && pictureSize.height === size.height;
  };
  const { original: originalName } = source.facts;
  if (originalName) {
    const ref = { filename: originalName, subfolder: "", type: "input" };
    const original = await fetchFile(getFileUrl(source, ref), { signal });
    if (original.ok && (await isSame(original.value))) return { file: original.value, ref };
  }
  const [first] = refs;
  const opaque = first && (await fetchFile(`${getFileUrl(source, first)}&channel=rgb`, { signal }));
  return opaque?.ok && (await isSame(opaque.value)) ? { file: opaque.value } : undefined;
}

async function openPreview(
  { facts, files, connection }: MaskSource,
  asset: string,
  options: FetchOptions,
  failure: ApiFailure,
): Promise<Result<OpenedMask, OpenRefusal>> {
  const preview = await fetchFile(createThumbnailUrl({ asset, edge: 1024, connection }), options);
  // Empty if the console can't create a preview.
  if (!preview.ok || preview.value.size === 0) return failed({ kind: "failed", failure: failure });
  if (facts.width === undefined || facts.height === undefined) return failed({ kind: "unknown-size" });
  const size = { width: facts.width, height: facts.height };
  const picture = await showPicture(preview.value, size, true);
  return ok({
    coverage: emptyCoverage(size),
    picture,
    earlier: facts.original ? "unread" : "none",
    refs: files,
    isPreview: true,
    lacksFile: true,
  });
}

// Reads a picture's existing mask: the service's mask layer, or the picture's own transparency. Never throws; ignores masks of another size.

/** The origin of the initial mask. `unread`: it exists, but could not be read. */
export type Earlier = "none" | "layers" | "alpha" | "unread";

/** The name of the layer; undefined if there is none. */
async function findLayer({ files, connection, target }: MaskSource, { signal }: FetchOptions): Promise<string | undefined> {
  if (target) return undefined;
  const address = withQuery("/api/console/mask-layers", { filename: files[0]?.filename, connection });
  const layers = await callApi<{ mask?: string | null }>(address, { signal });
  return layers.ok ? (layers.value?.mask ?? undefined) : undefined;
}

async function readLayer(layer: string, size: Size, { connection }: MaskSource, { signal }: FetchOptions): Promise<Coverage | undefined> {
  const fetched = await fetchFile(createViewUrl({ filename: layer, type: "input", connection }), { signal });
  const coverage = fetched.ok ? await readMask(fetched.value, "layer", size) : "unreadable";
  return typeof coverage === "object" ? coverage : undefined;
}

async function readExistingMask(
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
async function isRotatedWebp(file: Blob): Promise<boolean> {
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

// One worker per task, terminated afterwards to free the memory.

export type WorkerTask = { do: "encode"; coverage: Coverage; hold?: MaskEncoding } | { do: "read"; file: Blob; kind: "picture" | "layer" };
type Progress = { do: "packing"; share: number };
export type WorkerResponse =
  Progress | { do: "encode"; file: Blob } | { do: "read"; coverage: Coverage | undefined } | { do: "failed"; reason: string };

type RequestOptions = { transfer?: Transferable[]; onProgress?: (share: number) => void };

function sendTask(task: WorkerTask, { transfer = [], onProgress }: RequestOptions = {}): Promise<Exclude<WorkerResponse, Progress>> {
  return new Promise((resolve) => {
    const worker = new Worker(new URL("./mask-worker.ts", import.meta.url), { type: "module" });
    const finish = (response: Exclude<WorkerResponse, Progress>) => {
      worker.terminate();
      resolve(response);
    };
    worker.addEventListener("message", ({ data }: MessageEvent<WorkerResponse>) => {
      if (data.do === "packing") onProgress?.(data.share);
      else finish(data);
    });
    worker.addEventListener("error", ({ message }) => finish({ do: "failed", reason: message }));
    worker.postMessage(task, { transfer });
  });
}

/** The pixels are transferred to the worker: a caller that still needs them passes a copy. */
export async function encodeInWorker(coverage: Coverage, onProgress: (share: number) => void, hold?: MaskEncoding): Promise<Blob> {
  const response = await sendTask({ do: "encode", coverage, hold }, { transfer: [coverage.data.buffer], onProgress });
  if (response.do === "encode") return response.file;
  throw new Error(response.do === "failed" ? response.reason : "the worker answered another task");
}

async function readInWorker(file: Blob, kind: "picture" | "layer"): Promise<Coverage | undefined> {
  const response = await sendTask({ do: "read", file, kind });
  if (response.do === "read") return response.coverage;
  throw new Error(response.do === "failed" ? response.reason : "the worker answered another task");
}
