// Opens the source image of a thumbnail.

import "server-only";
import { createFailure, type Failure, isNotFound } from "@/lib/contract/failure";
import { isObject } from "@/lib/contract/json/json";
import { operations } from "@/lib/contract/operations";
import { TOO_LARGE_HEADER } from "@/lib/shared/image-size";
import { failed, type Result } from "@/lib/shared/result";
import { type Access } from "../connections/access";
import { type PreviewSource } from "../connections/asset-preview-cache";
import { type CallInput } from "../upstream/build-request";
import { createDeadline } from "../upstream/deadline";
import { createTimeoutFailure, isUnresponsive } from "../upstream/failures";
import { openUrl } from "../upstream/open-bytes";
import { isEmbedded } from "../upstream/send";

type Size = { width: number; height: number };

export function createTooLargeFailure({ width, height }: Size): Failure {
  return createFailure("UNPROCESSABLE", "The image is too large to preview.", { width, height });
}

/** Returns undefined for any other failure. */
export function getTooLargeHeaders({ code, details }: Failure): Record<string, string> | undefined {
  if (code !== "UNPROCESSABLE" || !isObject(details) || typeof details.width !== "number" || typeof details.height !== "number")
    return undefined;
  return { [TOO_LARGE_HEADER]: `${details.width}x${details.height}` };
}

/** The content could not be read completely, for example because it is too large or its end is missing. */
export const previewNotFound = createFailure("NOT_FOUND", "There is no preview.");
/** The service has no preview now, but may have one later. */
export const previewNotReady: Failure = { ...previewNotFound };
/** The content was read completely, but is not an image. */
export const notAnImage: Failure = { ...previewNotFound, message: "This content has no preview." };

const MAX_READ_MS = 15_000;
const UNRESPONSIVE_MS = 3_000;

export type ServiceTimeouts = {
  /** Runs one exchange within the limits. Responses with Retry-After are returned, because the service did respond. */
  exchange<T>(
    exchange: (limits: { exchangeMs: number; attempts: 1 }) => Promise<Result<T, Failure>>,
    origin?: Origin,
  ): Promise<Result<T, Failure>>;
  /** Reads one body. Every byte restarts the time limit. */
  read<T>(work: (signal: AbortSignal, touch: () => void) => Promise<Result<T, Failure>>, origin?: Origin): Promise<Result<T, Failure>>;
  /** True if the service itself was too slow, and not another host. */
  hasTimedOut(): boolean;
};
/** `isForeign`: another host responds, so its delay does not count as the service's. */
type Origin = { isForeign: boolean };

export function createServiceTimeouts(
  { connection: { baseUrl }, upstreamOptions: { limits } }: Access,
  signal: AbortSignal,
): ServiceTimeouts {
  const maxMs = Math.min(MAX_READ_MS, limits?.readMs ?? MAX_READ_MS);
  // The embedded service sends no bytes before an image is complete.
  const unresponsiveMs = isEmbedded(baseUrl) ? maxMs : Math.min(UNRESPONSIVE_MS, maxMs);
  let hasTimedOut = false;
  const recordTimeout = <T>(result: Result<T, Failure>, origin?: Origin) => {
    hasTimedOut ||= !result.ok && isUnresponsive(result.failure) && !origin?.isForeign;
    return result;
  };
  return {
    exchange: async (exchange, origin) => recordTimeout(await exchange({ exchangeMs: unresponsiveMs, attempts: 1 }), origin),
    async read(work, origin) {
      const deadline = createDeadline(unresponsiveMs, signal, maxMs);
      const startedMs = performance.now();
      try {
        const result = await work(deadline.signal, deadline.touch);
        if (result.ok || !deadline.expired) return result;
        return recordTimeout(failed(createTimeoutFailure(baseUrl, performance.now() - startedMs < maxMs ? unresponsiveMs : maxMs)), origin);
      } finally {
        deadline.clear();
      }
    },
    hasTimedOut: () => hasTimedOut,
  };
}

type FileSubject = { filename: string; subfolder: string; type: string };
export type ThumbnailSubject = { asset: string } | FileSubject;

type OpenOptions = { subject: ThumbnailSubject; edge: number; isImmutable: boolean; signal: AbortSignal; wait: ServiceTimeouts };
type OpenedImage = { response: Result<Response, Failure>; source?: PreviewSource | undefined };

/** No service resizes beyond this size. For larger sizes, the original file is requested. */
const MAX_RESIZE_EDGE_PX = 1024;
/** The service couldn't resize the image, but may still deliver the original. */
const resizeFailureStatuses: ReadonlySet<number> = new Set([400, 413, 415, 422]);
/** The signed URL may have expired or the image may have moved, so the asset is read again for its new URL. */
const staleUrlStatuses: ReadonlySet<number> = new Set([400, 401, 403, 404, 410]);

export async function openSubjectImage(access: Access, openOptions: OpenOptions): Promise<OpenedImage> {
  const { subject, signal } = openOptions;
  if ("filename" in subject) return { response: await openView(access, subject, openOptions) };
  const cachedAsset = openOptions.isImmutable ? access.findAssetPreview(subject.asset) : undefined;
  if (cachedAsset) {
    if (!hasImage(cachedAsset)) return { response: failed(previewNotReady) };
    const imageResult = await openImage(access, cachedAsset, openOptions);
    if (imageResult.ok || !staleUrlStatuses.has(imageResult.failure.status)) return { response: imageResult, source: cachedAsset };
  }
  const assetResult = await openOptions.wait.exchange((limits) =>
    access.upstream.call(operations.getAsset, { params: { id: subject.asset }, signal, limits }),
  );
  if (!assetResult.ok) return { response: assetResult, source: cachedAsset };
  if (!hasImage(assetResult.value)) return { response: failed(previewNotReady), source: cachedAsset };
  return { response: await openImage(access, assetResult.value, openOptions), source: assetResult.value };
}

function hasImage({ preview_url: previewUrl = "", mime_type: mimeType = "" }: PreviewSource): boolean {
  return previewUrl !== "" || mimeType.startsWith("image/");
}

async function openImage(access: Access, source: PreviewSource, openOptions: OpenOptions): Promise<Result<Response, Failure>> {
  const result = source.preview_url
    ? await openPreview(access, source.preview_url, openOptions)
    : await openView(access, toFileSubject(source), openOptions);
  // The asset exists without an image, for example on a service that delivers no files.
  return !result.ok && isNotFound(result.failure) ? failed(previewNotReady) : result;
}

export function toFileSubject({ asset_hash: hash, name }: PreviewSource): FileSubject {
  return { filename: hash ?? name, subfolder: "", type: "input" };
}

async function openView(access: Access, file: FileSubject, { edge, wait, signal }: OpenOptions): Promise<Result<Response, Failure>> {
  const requestView = (query: CallInput["query"]) =>
    wait.exchange((limits) => access.upstream.forward(operations.view, { query, signal, limits }));
  if (edge <= MAX_RESIZE_EDGE_PX) {
    const result = await requestView({ ...file, res: edge });
    if (result.ok || !resizeFailureStatuses.has(result.failure.status)) return result;
  }
  return requestView(file);
}

async function openPreview(access: Access, previewUrl: string, openOptions: OpenOptions): Promise<Result<Response, Failure>> {
  const base = new URL(access.connection.baseUrl);
  if (!URL.canParse(previewUrl, base)) return failed(previewNotFound);
  const url = new URL(previewUrl, base);
  // A relative URL may or may not include the base URL's path.
  const basePath = base.pathname.replace(/\/+$/, "");
  if (previewUrl.startsWith("/") && !url.pathname.startsWith(`${basePath}/`)) url.pathname = basePath + url.pathname;
  if (url.origin === base.origin && url.pathname.endsWith(operations.view.path)) {
    const filename = url.searchParams.get("filename");
    const file = { subfolder: url.searchParams.get("subfolder") ?? "", type: url.searchParams.get("type") ?? "output" };
    if (filename) return openView(access, { ...file, filename }, openOptions);
  }
  const options = { ...access.upstreamOptions, now: Date.now };
  const open = (limitMs: number) => openUrl({ ...options, limitMs }, url, { signal: openOptions.signal });
  return openOptions.wait.exchange(({ exchangeMs }) => open(exchangeMs), { isForeign: url.origin !== base.origin });
}

export function isFromService({ connection: { baseUrl } }: Access, previewUrl: string): boolean {
  return URL.canParse(previewUrl, baseUrl) && new URL(previewUrl, baseUrl).origin === new URL(baseUrl).origin;
}
