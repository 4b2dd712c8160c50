// Opens, resizes and caches thumbnails. Timeouts and truncated responses are never cached as properties of the file.

import "server-only";
import { createHash } from "node:crypto";
import { createFailure, type Failure } from "@/lib/contract/failure";
import { createLimiter, type Limiter } from "@/lib/shared/async";
import { type DiskCache } from "@/lib/shared/disk-cache";
import { failed, ok, type Result } from "@/lib/shared/result";
import { type Access } from "../connections/access";
import { redactForBrowser } from "../responses/redact";
import { createClientGoneFailure, createUnreachableFailure, createUnreadableFailure } from "../upstream/failures";
import { isEmbedded } from "../upstream/send";
import { readBytes } from "../upstream/streams";
import { type Breaker } from "./breaker";
import {
  createServiceTimeouts,
  createTooLargeFailure,
  getTooLargeHeaders,
  isFromService,
  notAnImage,
  openSubjectImage,
  previewNotFound,
  previewNotReady,
  type ServiceTimeouts,
  type ThumbnailSubject,
  toFileSubject,
} from "./open-image";
import { renderThumbnail, type ThumbnailFit } from "./resize";

export const edges = [128, 256, 512, 1024] as const;

const MAX_BYTES = 64 * 1024 ** 2;
const MAX_CONCURRENT_PER_CONNECTION = 16;
/** One per connection, so that a service that hangs does not delay other services' images. */
const limiters = new Map<string, Limiter>();
/** Bounds the memory of all connections together, because each task has a full file in memory. */
const limitLargeFiles = createLimiter(12);
/** Smaller files do not wait for other connections' large files, which may arrive slowly. */
const MAX_SMALL_BYTES = 4 * 1024 ** 2;

const imagesUnavailable = createFailure("SERVICE_UNAVAILABLE", "Images from this service are not loading right now.");

export function getThumbnail(
  access: Access,
  { thumbnails, pictureBreaker }: { thumbnails: DiskCache<Failure>; pictureBreaker: Breaker },
  thumbnailRequest: {
    subject: ThumbnailSubject;
    edge: number;
    fit?: ThumbnailFit;
    version?: string;
    isImmutable: boolean;
    client: Request;
  },
): Promise<Result<Uint8Array, Failure>> {
  const { subject, edge, fit = "whole", version = "", isImmutable, client } = thumbnailRequest;
  const { connection, fingerprint = "" } = access;
  const subjectKey = "asset" in subject ? ["asset", subject.asset] : ["file", subject.type, subject.subfolder, subject.filename];
  // Includes the fingerprint, because another key may see other data under the same id.
  const name = [connection.id, connection.baseUrl, fingerprint, String(edge), ...(fit === "whole" ? [] : [fit]), version, ...subjectKey];
  const limit = limiters.get(connection.id) ?? createLimiter(MAX_CONCURRENT_PER_CONNECTION);
  limiters.set(connection.id, limit);
  return thumbnails.get({ name, isTransient: !isImmutable, caller: client }, (signal) =>
    limit(() => createThumbnail(access, pictureBreaker, { subject, edge, fit, isImmutable, signal })),
  );
}

type ThumbnailRequest = { subject: ThumbnailSubject; edge: number; fit: ThumbnailFit; isImmutable: boolean; signal: AbortSignal };

async function createThumbnail(access: Access, breaker: Breaker, thumbnailRequest: ThumbnailRequest): Promise<Result<Uint8Array, Failure>> {
  // No client waits for it any more, so the next one can start.
  if (thumbnailRequest.signal.aborted) return failed(createClientGoneFailure());
  const { id } = access.connection;
  const waitMs = breaker.acquireMs(id);
  if (waitMs > 0) return failed({ ...imagesUnavailable, retryAfterMs: waitMs });
  const wait = createServiceTimeouts(access, thumbnailRequest.signal);
  let outcome: Parameters<Breaker["record"]>[1] = "cancelled";
  try {
    const thumbnailResult = await drawSubjectOrFile(access, { ...thumbnailRequest, wait });
    if (!thumbnailResult.ok && thumbnailRequest.signal.aborted) return failed(createClientGoneFailure());
    outcome = !thumbnailResult.ok && wait.hasTimedOut() ? "timedOut" : "responded";
    return thumbnailResult;
  } finally {
    breaker.record(id, outcome);
  }
}

type DrawOptions = ThumbnailRequest & { wait: ServiceTimeouts };
type OpenedImage = Awaited<ReturnType<typeof openSubjectImage>>;

async function drawSubjectOrFile(access: Access, options: DrawOptions): Promise<Result<Uint8Array, Failure>> {
  const { wait, signal } = options;
  const openedImage = await openSubjectImage(access, options);
  const result = await drawImage(access, options, openedImage);
  const { source } = openedImage;
  if (result.ok || signal.aborted || !source?.preview_url || !source.mime_type?.startsWith("image/")) return result;
  // A service that is down or has requested a pause gets no further requests.
  if (wait.hasTimedOut() || (isFromService(access, source.preview_url) && temporaryStatuses.has(result.failure.status))) return result;
  const fileOptions = { ...options, subject: toFileSubject(source) };
  const fileResult = await drawImage(access, fileOptions, await openSubjectImage(access, fileOptions));
  // Final only if both sources have no image.
  const isFinal = result.failure === notAnImage || result.failure === previewNotReady;
  return fileResult.ok || (isFinal && !isDefiniteFailure(fileResult.failure)) ? fileResult : result;
}

/** Statuses of temporary failures. 0 means that there was no response. */
const temporaryStatuses: ReadonlySet<number> = new Set([0, 401, 429, 502, 503, 504]);

/** True if the file doesn't exist or isn't an image. An outage is not definite. */
function isDefiniteFailure(failure: Failure): boolean {
  if (failure === previewNotFound) return false;
  return (failure.status >= 400 && failure.status < 500 && !temporaryStatuses.has(failure.status)) || failure.status === 501;
}

async function drawImage(access: Access, options: DrawOptions, openedImage: OpenedImage): Promise<Result<Uint8Array, Failure>> {
  const result = await resizeImage(access, options, openedImage);
  if (!result.ok) return result;
  const { thumbnail, largerEdge } = result.value;
  if (largerEdge === undefined) return ok(thumbnail);
  // The service has resized a very long image to a strip, so it is requested again in the required size.
  const largerResult = await resizeImage(access, options, await openSubjectImage(access, { ...options, edge: largerEdge }));
  // If the larger image was cancelled, the strip must not be cached in its place.
  if (options.signal.aborted) return failed(createClientGoneFailure());
  return ok(largerResult.ok ? largerResult.value.thumbnail : thumbnail);
}

async function resizeImage(access: Access, { wait, ...target }: DrawOptions, { response, source }: OpenedImage) {
  if (!response.ok) return response;
  const { baseUrl } = access.connection;
  const isForeign = !!source?.preview_url && !isFromService(access, source.preview_url);
  const { headers, status, body } = response.value;
  if (/^\s*(?:video|audio)\//i.test(headers.get("content-type") ?? "")) {
    await body?.cancel();
    return failed(notAnImage);
  }
  const length = headers.get("content-length");
  const isSmall = Number(length ?? Infinity) <= MAX_SMALL_BYTES;
  const readAndResize = async () => {
    const result = await wait.read(
      (signal, onChunk) =>
        readBytes(body, isSmall ? MAX_SMALL_BYTES : MAX_BYTES, { signal, onChunk }).then(ok, (error: unknown) =>
          failed(createUnreachableFailure(baseUrl, error)),
        ),
      { isForeign },
    );
    if (!result.ok) return result;
    const thumbnail = result.value && (await renderThumbnail(result.value, target));
    if (thumbnail === undefined) return failed(previewNotFound);
    if (thumbnail !== "unreadable") return "tooLarge" in thumbnail ? failed(createTooLargeFailure(thumbnail.tooLarge)) : ok(thumbnail);
    // An HTML page instead of a file indicates an outage, not a bad file.
    if (/^\s*(?:text\/html|application\/json)\b/i.test(headers.get("content-type") ?? ""))
      return failed(createUnreadableFailure(baseUrl, status, "it returned a web page instead of a file"));
    // If only the end of the connection marks the end, the body may be incomplete.
    const isComplete = length !== null || headers.has("transfer-encoding") || isEmbedded(baseUrl);
    return failed(isComplete ? notAnImage : previewNotFound);
  };
  return isSmall ? readAndResize() : limitLargeFiles(readAndResize);
}

/** With `isImmutable`, the URL contains everything that the image depends on, so browsers may cache it. */
export async function createThumbnailResponse(
  access: Access,
  caches: { thumbnails: DiskCache<Failure>; pictureBreaker: Breaker },
  thumbnailRequest: Parameters<typeof getThumbnail>[2],
  isImmutable: boolean,
): Promise<Result<Response, Failure>> {
  const result = await getThumbnail(access, caches, thumbnailRequest);
  const getCacheControl = (seconds: number) => (isImmutable ? `private, max-age=${seconds}, immutable` : "private, no-cache");
  const tooLargeHeaders = result.ok ? undefined : getTooLargeHeaders(result.failure);
  if (!result.ok && (tooLargeHeaders || result.failure === notAnImage || result.failure === previewNotReady)) {
    // One day, because a later version may support more formats.
    const cacheControl = result.failure === previewNotReady ? "private, no-cache" : getCacheControl(86_400);
    return ok(new Response(null, { status: 204, headers: { "cache-control": cacheControl, ...tooLargeHeaders } }));
  }
  if (!result.ok) return failed(redactForBrowser(result.failure, access));
  const etag = `"${createHash("sha256").update(result.value).digest("base64url").slice(0, 27)}"`;
  const headers = { etag, "cache-control": getCacheControl(31_536_000), "content-type": "image/webp" };
  if (matchesEtag(thumbnailRequest.client.headers.get("if-none-match") ?? "", etag))
    return ok(new Response(null, { status: 304, headers }));
  return ok(new Response(Buffer.from(result.value), { headers: { ...headers, "content-length": String(result.value.byteLength) } }));
}

/** A proxy that compresses responses makes the ETag weak. */
function matchesEtag(list: string, etag: string): boolean {
  return list.split(",").some((value) => value.trim().replace(/^W\//, "") === etag);
}
