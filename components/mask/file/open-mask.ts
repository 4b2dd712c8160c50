// Opens an image for drawing. Reads its size, preview and existing mask.
// Guarantees: never throws. Checks the known metadata, the length and the header before decoding. If the service serves no files, a preview is
// shown, and the mask still has the original's size. An unreadable existing mask is reported.

import { callApi } from "@/lib/browser/api";
import { type ApiFailure } from "@/lib/browser/api-failure";
import { readDisplaySize } from "@/lib/browser/uploads/image-decoding";
import { createThumbnailUrl, createViewUrl, type FileReference, toPreviewImageUrl, withQuery } from "@/lib/browser/urls";
import { isNotFound } from "@/lib/contract/failure";
import { detectImageKind, listSegments, readOrientation } from "@/lib/shared/image-size";
import { failed, ok, type Result } from "@/lib/shared/result";
import { type Coverage, createCoverage, type Size } from "../drawing/coverage";
import { type MaskEncoding } from "./encode-png";
import {
  decodeImage,
  type DisplayedImage,
  type FetchError,
  fetchFile,
  type FetchOptions,
  findSizeProblem,
  getFileUrl,
  type MaskSource,
  type TooLarge,
} from "./mask-source";

export type OpenedMask = {
  coverage: Coverage;
  /** Absent if the image can't be shown. */
  picture?: DisplayedImage;
  earlier: InitialMask;
  /** References for `original_ref`, most reliable first. */
  refs: readonly FileReference[];
  /** Whether the image is a preview. The mask still has the original's size. */
  isPreview: boolean;
  /** Whether the service does not serve the file. */
  lacksFile?: boolean;
  /** How to encode the mask. Absent if it is encoded as drawn. */
  hold?: MaskEncoding;
};

export type OpenError =
  | { kind: "not-picture" }
  | { kind: "broken" }
  | { kind: "unknown-size" }
  | { kind: "too-large"; why: TooLarge }
  /** The local file differs from the service's file. */
  | { kind: "other-file"; bytes: number; expectedBytes: number }
  | { kind: "failed"; failure: ApiFailure };

/** `file`: the image from this computer, if the service does not serve it. */
export type OpenOptions = FetchOptions & { file?: File };
export type OpenMask = (source: MaskSource, options: OpenOptions) => Promise<Result<OpenedMask, OpenError>>;

export const openMask: OpenMask = async (source, options) => {
  const { facts, files } = source;
  if (options.file) return openLocalFile(source, options.file, options);
  if (facts.isPicture === false) return failed({ kind: "not-picture" });
  const reason = findSizeProblem(facts);
  if (reason) return failed({ kind: "too-large", why: reason });
  let fetchError: FetchError | undefined;
  for (const [index, name] of files.entries()) {
    const fileResult = await fetchFile(getFileUrl(source, name), options);
    // When sending the mask, the name that worked is tried first.
    if (fileResult.ok) return openFile(source, fileResult.value, [name, ...files.slice(0, index), ...files.slice(index + 1)], options);
    fetchError = fileResult.failure;
    if (fetchError.kind !== "failed" || fetchError.failure.status !== 404) break;
  }
  if (!fetchError || fetchError.kind === "too-large") return failed(fetchError ?? { kind: "broken" });
  // The service does not support GET /api/view, or responds with 404 for an existing asset.
  return isNotFound(fetchError.failure) && source.assetId
    ? openPreview(source, source.assetId, options, fetchError.failure)
    : failed(fetchError);
};

async function openLocalFile(source: MaskSource, file: File, options: OpenOptions): Promise<Result<OpenedMask, OpenError>> {
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
  refs: readonly FileReference[],
  options: OpenOptions,
): Promise<Result<OpenedMask, OpenError>> {
  const uprightFile = options.file ? undefined : await fetchUprightWebp(file, source, refs, options);
  const blob = uprightFile ?? file;
  const size = await readDisplaySize(blob);
  if (!size || size.width === 0 || size.height === 0) return failed({ kind: file.type.startsWith("image/") ? "broken" : "not-picture" });
  const reason = findSizeProblem(size);
  if (reason) return failed({ kind: "too-large", why: reason });
  const existingMask = await readExistingMask(source, blob, size, options);
  const encoding = await getMaskEncoding(file, source.keepsPixels === true, uprightFile !== undefined);
  // The unmasked image would be upright, but this original is not.
  const unmaskedFile =
    existingMask.coverage && !encoding && !uprightFile ? await fetchUnmaskedImage(source, refs, size, options) : undefined;
  const picture = await decodeImage(unmaskedFile?.file ?? blob, size);
  if (!picture) return failed({ kind: "broken" });
  return ok({
    coverage: existingMask.coverage ?? createCoverage(size),
    picture,
    earlier: existingMask.origin,
    refs: unmaskedFile?.ref ? [unmaskedFile.ref, ...refs] : refs,
    isPreview: false,
    hold: encoding,
  });
}

/** Returns the image re-encoded by the console, in the orientation in which a node loads it. */
async function fetchUprightWebp(
  file: Blob,
  source: MaskSource,
  [name]: readonly FileReference[],
  { signal }: FetchOptions,
): Promise<Blob | undefined> {
  const url = name && getFileUrl(source, name);
  if (url === undefined || !(await isRotatedWebp(file))) return undefined;
  const pictureUrl = toPreviewImageUrl(url);
  const result = pictureUrl === url ? undefined : await fetchFile(pictureUrl, { signal });
  return result?.ok && result.value.size > 0 ? result.value : undefined;
}

/** Returns the image that the mask was drawn over: the original, or the same colours without alpha. */
async function fetchUnmaskedImage(
  source: MaskSource,
  refs: readonly FileReference[],
  size: Size,
  { signal }: FetchOptions,
): Promise<{ file: Blob; ref?: FileReference } | undefined> {
  const hasSameSize = async (file: Blob) => {
    const imageSize = (await getMaskEncoding(file, false)) ? undefined : await readDisplaySize(file);
    return imageSize?.width === size.width && imageSize.height === size.height;
  };
  const { original: originalName } = source.facts;
  if (originalName) {
    const ref = { filename: originalName, subfolder: "", type: "input" };
    const originalResult = await fetchFile(getFileUrl(source, ref), { signal });
    if (originalResult.ok && (await hasSameSize(originalResult.value))) return { file: originalResult.value, ref };
  }
  const [firstRef] = refs;
  const opaqueResult = firstRef && (await fetchFile(`${getFileUrl(source, firstRef)}&channel=rgb`, { signal }));
  return opaqueResult?.ok && (await hasSameSize(opaqueResult.value)) ? { file: opaqueResult.value } : undefined;
}

async function openPreview(
  { facts, files, connection }: MaskSource,
  assetId: string,
  options: FetchOptions,
  failure: ApiFailure,
): Promise<Result<OpenedMask, OpenError>> {
  const previewResult = await fetchFile(createThumbnailUrl({ asset: assetId, edge: 1024, connection }), options);
  // Empty if the console can't create a preview.
  if (!previewResult.ok || previewResult.value.size === 0) return failed({ kind: "failed", failure });
  if (facts.width === undefined || facts.height === undefined) return failed({ kind: "unknown-size" });
  const size = { width: facts.width, height: facts.height };
  const picture = await decodeImage(previewResult.value, size, true);
  return ok({
    coverage: createCoverage(size),
    picture,
    earlier: facts.original ? "unread" : "none",
    refs: files,
    isPreview: true,
    lacksFile: true,
  });
}

// Reads an existing mask: the service's mask layer, or the transparency of the image. Never throws. Ignores masks of another size.

/** The origin of the initial mask. `unread`: the mask exists, but could not be read. */
export type InitialMask = "none" | "layers" | "alpha" | "unread";

/** Returns the name of the mask layer, if there is one. */
async function findLayer({ files, connection, target }: MaskSource, { signal }: FetchOptions): Promise<string | undefined> {
  if (target) return undefined;
  const url = withQuery("/api/console/mask-layers", { filename: files[0]?.filename, connection });
  const result = await callApi<{ mask?: string | null }>(url, { signal });
  return result.ok ? (result.value?.mask ?? undefined) : undefined;
}

async function readLayer(layer: string, size: Size, { connection }: MaskSource, { signal }: FetchOptions): Promise<Coverage | undefined> {
  const result = await fetchFile(createViewUrl({ filename: layer, type: "input", connection }), { signal });
  const coverage = result.ok ? await readMask(result.value, "layer", size) : "unreadable";
  return typeof coverage === "object" ? coverage : undefined;
}

async function readExistingMask(
  source: MaskSource,
  file: Blob,
  size: Size,
  options: FetchOptions,
): Promise<{ coverage?: Coverage; origin: InitialMask }> {
  // A masked image always has an alpha channel.
  if (!(await mayBeTransparent(file))) return { origin: "none" };
  const layer = await findLayer(source, options);
  const coverage = layer && (await readLayer(layer, size, source, options));
  if (coverage) return { coverage, origin: "layers" };
  const alphaMask = await readMask(file, "picture", size);
  if (typeof alphaMask === "object") return { coverage: alphaMask, origin: "alpha" };
  return { origin: layer || alphaMask === "unreadable" ? "unread" : "none" };
}

async function readMask(file: Blob, kind: "picture" | "layer", size: Size): Promise<Coverage | "nothing" | "unreadable"> {
  const coverage = await readInWorker(file, kind).catch(() => "unreadable" as const);
  if (coverage === "unreadable" || coverage === undefined) return coverage ?? "nothing";
  return coverage.width === size.width && coverage.height === size.height ? coverage : "unreadable";
}

/** PNG colour types with an alpha channel: grey, and colour. */
const ALPHA_COLOR_TYPES: readonly number[] = [4, 6];

/**
 * Whether any pixel of a file may be transparent. Reads only the header, to avoid decoding large photographs. False only if certain.
 */
export async function mayBeTransparent(file: Blob): Promise<boolean> {
  const bytes = await readBytes(file);
  const kind = detectImageKind(bytes);
  if (kind !== "png") return kind !== "jpeg";
  if (ALPHA_COLOR_TYPES.includes(bytes[25] ?? 0)) return true;
  for (const { name } of listSegments(bytes, kind)) if (name === "tRNS" || name === "IDAT") return name === "tRNS";
  return true;
}

// Browsers apply the EXIF orientation, but a service may store the image unrotated.

/** Browsers rotate every image by its EXIF orientation, except WebP. */
async function isRotatedWebp(file: Blob): Promise<boolean> {
  const bytes = await readBytes(file);
  return detectImageKind(bytes) === "webp" && (readOrientation(bytes) ?? 1) > 1;
}

/** Returns how to encode the mask, or undefined to encode it as drawn. `isShownUpright`: the image is shown rotated, even if it is a WebP. */
export async function getMaskEncoding(file: Blob, keepsPixels: boolean, isShownUpright = false): Promise<MaskEncoding | undefined> {
  const bytes = await readBytes(file);
  const orientation = readOrientation(bytes) ?? 1;
  if (orientation === 1) return undefined;
  const isRotated = isShownUpright || detectImageKind(bytes) !== "webp";
  return isRotated && !keepsPixels ? undefined : { orientation, isRotated };
}

async function readBytes(file: Blob): Promise<Uint8Array> {
  return new Uint8Array(await file.arrayBuffer());
}

// Starts one worker per task, and terminates it afterwards to free memory.

export type WorkerTask = { do: "encode"; coverage: Coverage; hold?: MaskEncoding } | { do: "read"; file: Blob; kind: "picture" | "layer" };
type ProgressMessage = { do: "packing"; share: number };
export type WorkerResponse =
  ProgressMessage | { do: "encode"; file: Blob } | { do: "read"; coverage: Coverage | undefined } | { do: "failed"; reason: string };

type TaskOptions = { transfer?: Transferable[]; onProgress?: (share: number) => void };

function sendTask(task: WorkerTask, { transfer = [], onProgress }: TaskOptions = {}): Promise<Exclude<WorkerResponse, ProgressMessage>> {
  return new Promise((resolve) => {
    const worker = new Worker(new URL("./mask-worker.ts", import.meta.url), { type: "module" });
    const finishTask = (response: Exclude<WorkerResponse, ProgressMessage>) => {
      worker.terminate();
      resolve(response);
    };
    worker.addEventListener("message", ({ data }: MessageEvent<WorkerResponse>) => {
      if (data.do === "packing") onProgress?.(data.share);
      else finishTask(data);
    });
    worker.addEventListener("error", ({ message }) => finishTask({ do: "failed", reason: message }));
    worker.postMessage(task, { transfer });
  });
}

/** The pixels are transferred to the worker. A caller that still needs them must pass a copy. */
export async function encodeInWorker(coverage: Coverage, onProgress: (share: number) => void, hold?: MaskEncoding): Promise<Blob> {
  const response = await sendTask({ do: "encode", coverage, hold }, { transfer: [coverage.data.buffer], onProgress });
  if (response.do === "encode") return response.file;
  throw new Error(response.do === "failed" ? response.reason : "the worker responded to another task");
}

async function readInWorker(file: Blob, kind: "picture" | "layer"): Promise<Coverage | undefined> {
  const response = await sendTask({ do: "read", file, kind });
  if (response.do === "read") return response.coverage;
  throw new Error(response.do === "failed" ? response.reason : "the worker responded to another task");
}
