// Opens, resizes and caches thumbnails. Timeouts and truncated responses are never cached as properties of the file.

import "server-only";
import { createHash } from "node:crypto";
import { createFailure, type Failure } from "@/lib/contract/failure";
import { createLimiter, type Limiter } from "@/lib/shared/async";
import { type DiskCache } from "@/lib/shared/disk-cache";
import { failed, ok, type Result } from "@/lib/shared/result";
import { redactForBrowser } from "../answers/redact";
import { type Access } from "../connections/access";
import { clientGone, unreachable, unreadable } from "../upstream/failures";
import { isEmbedded } from "../upstream/send";
import { readBytes } from "../upstream/streams";
import { type Breaker } from "./breaker";
import {
  createServiceWait,
  headersIfTooLarge,
  isFromService,
  noPreviewYet,
  notAPicture,
  openSubject,
  previewNotFound,
  type ServiceWait,
  type ThumbnailSubject,
  toFileSubject,
  tooLargeToShow,
} from "./open-picture";
import { type ThumbnailFit, toThumbnail } from "./resize";

export const edges = [128, 256, 512, 1024] as const;

const MAX_BYTES = 64 * 1024 ** 2;
const MAX_CONCURRENT_PER_CONNECTION = 16;
/** One per connection, so that a service that hangs does not delay other services' pictures. */
const limiters = new Map<string, Limiter>();
/** Bounds the memory of all connections together, because each task has a whole file in memory. */
const limitLargeFiles = createLimiter(12);
/** Smaller files do not wait for other connections' large files, which may arrive slowly. */
const SMALL_BYTES = 4 * 1024 ** 2;

const unavailable = createFailure("SERVICE_UNAVAILABLE", "Pictures from this service are not loading right now.");

export function getThumbnail(
  access: Access,
  { thumbnails, pictureBreaker }: { thumbnails: DiskCache<Failure>; pictureBreaker: Breaker },
  thumbnailRequest: { subject: ThumbnailSubject; edge: number; fit?: ThumbnailFit; version?: string; isFixed: boolean; asker: Request },
): Promise<Result<Uint8Array, Failure>> {
  const { subject, edge, fit = "whole", version = "", isFixed, asker } = thumbnailRequest;
  const { connection, fingerprint = "" } = access;
  const subjectKey = "asset" in subject ? ["asset", subject.asset] : ["file", subject.type, subject.subfolder, subject.filename];
  // Includes the fingerprint, because another key may see other data under the same id.
  const name = [connection.id, connection.baseUrl, fingerprint, String(edge), ...(fit === "whole" ? [] : [fit]), version, ...subjectKey];
  const limit = limiters.get(connection.id) ?? createLimiter(MAX_CONCURRENT_PER_CONNECTION);
  limiters.set(connection.id, limit);
  return thumbnails.get({ name, isPassing: !isFixed, asker }, (signal) =>
    limit(() => createThumbnail(access, pictureBreaker, { subject, edge, fit, isFixed, signal })),
  );
}

type ThumbnailRequest = { subject: ThumbnailSubject; edge: number; fit: ThumbnailFit; isFixed: boolean; signal: AbortSignal };

async function createThumbnail(access: Access, breaker: Breaker, thumbnailRequest: ThumbnailRequest): Promise<Result<Uint8Array, Failure>> {
  // No client waits for it any more, so the next one can start.
  if (thumbnailRequest.signal.aborted) return failed(clientGone());
  const { id } = access.connection;
  const waitMs = breaker.enterMs(id);
  if (waitMs > 0) return failed({ ...unavailable, retryAfterMs: waitMs });
  const wait = createServiceWait(access, thumbnailRequest.signal);
  let outcome: Parameters<Breaker["record"]>[1] = "left";
  try {
    const thumbnailResult = await drawSubjectOrFile(access, { ...thumbnailRequest, wait });
    if (!thumbnailResult.ok && thumbnailRequest.signal.aborted) return failed(clientGone());
    outcome = !thumbnailResult.ok && wait.wasLate() ? "silent" : "answered";
    return thumbnailResult;
  } finally {
    breaker.record(id, outcome);
  }
}

type Drawing = ThumbnailRequest & { wait: ServiceWait };
type OpenedPicture = Awaited<ReturnType<typeof openSubject>>;

async function drawSubjectOrFile(access: Access, drawing: Drawing): Promise<Result<Uint8Array, Failure>> {
  const { wait, signal } = drawing;
  const openedPicture = await openSubject(access, drawing);
  const result = await drawPicture(access, drawing, openedPicture);
  const { source } = openedPicture;
  if (result.ok || signal.aborted || !source?.preview_url || !source.mime_type?.startsWith("image/")) return result;
  // A service that is down or has requested a pause gets no further requests.
  if (wait.wasLate() || (isFromService(access, source.preview_url) && temporaryStatuses.has(result.failure.status))) return result;
  const file = { ...drawing, subject: toFileSubject(source) };
  const fileResult = await drawPicture(access, file, await openSubject(access, file));
  // Final only if both sources have no picture.
  const isFinal = result.failure === notAPicture || result.failure === noPreviewYet;
  return fileResult.ok || (isFinal && !isDefiniteFailure(fileResult.failure)) ? fileResult : result;
}

/** Statuses of temporary failures. 0 means that there was no response. */
const temporaryStatuses: ReadonlySet<number> = new Set([0, 401, 429, 502, 503, 504]);

/** The file doesn't exist or isn't a picture: not an outage. */
function isDefiniteFailure(failure: Failure): boolean {
  if (failure === previewNotFound) return false;
  return (failure.status >= 400 && failure.status < 500 && !temporaryStatuses.has(failure.status)) || failure.status === 501;
}

async function drawPicture(access: Access, drawing: Drawing, openedPicture: OpenedPicture): Promise<Result<Uint8Array, Failure>> {
  const result = await shrink(access, drawing, openedPicture);
  if (!result.ok) return result;
  const { thumbnail, largerEdge: requestedEdge } = result.value;
  if (requestedEdge === undefined) return ok(thumbnail);
  // The service has resized a very long picture to a strip, so it is requested again in the required size.
  const largerResult = await shrink(access, drawing, await openSubject(access, { ...drawing, edge: requestedEdge }));
  // Cancelled while fetching the larger picture. The strip must not be cached in its place.
  if (drawing.signal.aborted) return failed(clientGone());
  return ok(largerResult.ok ? largerResult.value.thumbnail : thumbnail);
}

async function shrink(access: Access, { wait, ...target }: Drawing, { answer, source }: OpenedPicture) {
  if (!answer.ok) return answer;
  const { baseUrl } = access.connection;
  const isForeign = !!source?.preview_url && !isFromService(access, source.preview_url);
  const { headers, status, body } = answer.value;
  if (/^\s*(?:video|audio)\//i.test(headers.get("content-type") ?? "")) {
    await body?.cancel();
    return failed(notAPicture);
  }
  const length = headers.get("content-length");
  const isSmall = Number(length ?? Infinity) <= SMALL_BYTES;
  const work = async () => {
    const result = await wait.read(
      (signal, onChunk) =>
        readBytes(body, isSmall ? SMALL_BYTES : MAX_BYTES, { signal, onChunk }).then(ok, (error: unknown) =>
          failed(unreachable(baseUrl, error)),
        ),
      { isForeign },
    );
    if (!result.ok) return result;
    const thumbnail = result.value && (await toThumbnail(result.value, target));
    if (thumbnail === undefined) return failed(previewNotFound);
    if (thumbnail !== "unreadable") return "tooLarge" in thumbnail ? failed(tooLargeToShow(thumbnail.tooLarge)) : ok(thumbnail);
    // An HTML page instead of a file indicates an outage, not a bad file.
    if (/^\s*(?:text\/html|application\/json)\b/i.test(headers.get("content-type") ?? ""))
      return failed(unreadable(baseUrl, status, "it answers a page in the place of a file"));
    // If only the end of the connection marks the end, the body may be incomplete.
    const isComplete = length !== null || headers.has("transfer-encoding") || isEmbedded(baseUrl);
    return failed(isComplete ? notAPicture : previewNotFound);
  };
  return isSmall ? work() : limitLargeFiles(work);
}

/** With `isImmutable`, the URL contains everything that the picture depends on, so browsers may cache it. */
export async function thumbnailResponse(
  access: Access,
  caches: { thumbnails: DiskCache<Failure>; pictureBreaker: Breaker },
  thumbnailRequest: Parameters<typeof getThumbnail>[2],
  isImmutable: boolean,
): Promise<Result<Response, Failure>> {
  const thumbnail = await getThumbnail(access, caches, thumbnailRequest);
  const cacheControlFor = (seconds: number) => (isImmutable ? `private, max-age=${seconds}, immutable` : "private, no-cache");
  const tooLarge = thumbnail.ok ? undefined : headersIfTooLarge(thumbnail.failure);
  if (!thumbnail.ok && (tooLarge || thumbnail.failure === notAPicture || thumbnail.failure === noPreviewYet)) {
    // One day, because a later version may support more formats.
    const caching = thumbnail.failure === noPreviewYet ? "private, no-cache" : cacheControlFor(86_400);
    return ok(new Response(null, { status: 204, headers: { "cache-control": caching, ...tooLarge } }));
  }
  if (!thumbnail.ok) return failed(redactForBrowser(thumbnail.failure, access));
  const etag = `"${createHash("sha256").update(thumbnail.value).digest("base64url").slice(0, 27)}"`;
  const headers = { etag, "cache-control": cacheControlFor(31_536_000), "content-type": "image/webp" };
  if (matchesEtag(thumbnailRequest.asker.headers.get("if-none-match") ?? "", etag)) return ok(new Response(null, { status: 304, headers }));
  return ok(new Response(Buffer.from(thumbnail.value), { headers: { ...headers, "content-length": String(thumbnail.value.byteLength) } }));
}

/** A proxy that compresses responses makes the ETag weak. */
function matchesEtag(list: string, etag: string): boolean {
  return list.split(",").some((value) => value.trim().replace(/^W\//, "") === etag);
}
