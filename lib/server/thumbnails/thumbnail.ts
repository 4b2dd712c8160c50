// Opens, resizes and caches thumbnails. Timeouts and truncated responses are never cached as a verdict on the file.

import "server-only";
import { createHash } from "node:crypto";
import { type Failure, refusal } from "@/lib/contract/failure";
import { createLimiter, type Limiter } from "@/lib/shared/async";
import { type DiskCache } from "@/lib/shared/disk-cache";
import { failed, ok, type Result } from "@/lib/shared/result";
import { redactForBrowser } from "../answers/redact";
import { type Access } from "../connections/access";
import { callerWentAway, unreachable, unreadable } from "../upstream/failures";
import { isEmbedded } from "../upstream/send";
import { readBytes } from "../upstream/streams";
import { type Breaker } from "./breaker";
import {
  createServiceWait,
  fileOf,
  headersIfTooLarge,
  isFromService,
  noPreviewYet,
  notAPicture,
  notFound,
  openSubject,
  type ServiceWait,
  type ThumbnailSubject,
  tooLargeToShow,
} from "./open-picture";
import { type ThumbnailFit, toThumbnail } from "./resize";

export const edges = [128, 256, 512, 1024] as const;

const MAX_BYTES = 64 * 1024 ** 2;
const MADE_AT_ONCE = 16;
/** One for each connection: a service that hangs does not delay other services' pictures. */
const turnsOf = new Map<string, Limiter>();
/** Each holds a whole file while it works: this bounds the memory for all connections together. */
const large = createLimiter(12);
/** Files announced as smaller do not wait for other connections' large files, which may arrive slowly. */
const SMALL_BYTES = 4 * 1024 ** 2;

const notNow = refusal("SERVICE_UNAVAILABLE", "Pictures from this service are not loading right now.");

export function getThumbnail(
  access: Access,
  { thumbnails, pictureBreaker }: { thumbnails: DiskCache<Failure>; pictureBreaker: Breaker },
  thumbnailRequest: { subject: ThumbnailSubject; edge: number; fit?: ThumbnailFit; version?: string; isFixed: boolean; asker: Request },
): Promise<Result<Uint8Array, Failure>> {
  const { subject, edge, fit = "whole", version = "", isFixed, asker } = thumbnailRequest;
  const { connection, fingerprint = "" } = access;
  const named = "asset" in subject ? ["asset", subject.asset] : ["file", subject.type, subject.subfolder, subject.filename];
  // Includes the fingerprint: another key may see other things under the same id.
  const name = [connection.id, connection.baseUrl, fingerprint, String(edge), ...(fit === "whole" ? [] : [fit]), version, ...named];
  const turns = turnsOf.get(connection.id) ?? createLimiter(MADE_AT_ONCE);
  turnsOf.set(connection.id, turns);
  return thumbnails.get({ name, isPassing: !isFixed, asker }, (signal) =>
    turns(() => make(access, pictureBreaker, { subject, edge, fit, isFixed, signal })),
  );
}

type ThumbnailRequest = { subject: ThumbnailSubject; edge: number; fit: ThumbnailFit; isFixed: boolean; signal: AbortSignal };

async function make(access: Access, breaker: Breaker, thumbnailRequest: ThumbnailRequest): Promise<Result<Uint8Array, Failure>> {
  // No client waits for it any more: the next one gets its turn.
  if (thumbnailRequest.signal.aborted) return failed(callerWentAway());
  const { id } = access.connection;
  const waitMs = breaker.enterMs(id);
  if (waitMs > 0) return failed({ ...notNow, retryAfterMs: waitMs });
  const wait = createServiceWait(access, thumbnailRequest.signal);
  let outcome: Parameters<Breaker["record"]>[1] = "left";
  try {
    const thumbnailResult = await drawSubjectOrFile(access, { ...thumbnailRequest, wait });
    if (!thumbnailResult.ok && thumbnailRequest.signal.aborted) return failed(callerWentAway());
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
  const result = await draw(access, drawing, openedPicture);
  const { source } = openedPicture;
  if (result.ok || signal.aborted || !source?.preview_url || !source.mime_type?.startsWith("image/")) return result;
  // A service that is down, or requested a pause, gets no further requests.
  if (wait.wasLate() || (isFromService(access, source.preview_url) && isPassing.has(result.failure.status))) return result;
  const file = { ...drawing, subject: fileOf(source) };
  const ofFile = await draw(access, file, await openSubject(access, file));
  // Final only if both sources have no picture.
  const isFinal = result.failure === notAPicture || result.failure === noPreviewYet;
  return ofFile.ok || (isFinal && !isDefiniteFailure(ofFile.failure)) ? ofFile : result;
}

/** No answer, or one that is only about this moment. */
const isPassing: ReadonlySet<number> = new Set([0, 401, 429, 502, 503, 504]);

/** The file exists but cannot be drawn, or does not exist: not an outage. */
function isDefiniteFailure(failure: Failure): boolean {
  if (failure === notFound) return false;
  return (failure.status >= 400 && failure.status < 500 && !isPassing.has(failure.status)) || failure.status === 501;
}

async function draw(access: Access, drawing: Drawing, openedPicture: OpenedPicture): Promise<Result<Uint8Array, Failure>> {
  const result = await shrink(access, drawing, openedPicture);
  if (!result.ok) return result;
  const { thumbnail, largerEdge: requestedEdge } = result.value;
  if (requestedEdge === undefined) return ok(thumbnail);
  // The service has resized a very long picture to a strip: request it again, as large as the box needs it.
  const better = await shrink(access, drawing, await openSubject(access, { ...drawing, edge: requestedEdge }));
  // Given up while fetching the larger one: the strip must not be cached in its place.
  if (drawing.signal.aborted) return failed(callerWentAway());
  return ok(better.ok ? better.value.thumbnail : thumbnail);
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
    if (thumbnail === undefined) return failed(notFound);
    if (thumbnail !== "unreadable") return "tooLarge" in thumbnail ? failed(tooLargeToShow(thumbnail.tooLarge)) : ok(thumbnail);
    // An HTML page instead of a file indicates an outage, not a bad file.
    if (/^\s*(?:text\/html|application\/json)\b/i.test(headers.get("content-type") ?? ""))
      return failed(unreadable(baseUrl, status, "it answers a page in the place of a file"));
    // If only the end of the connection marked the end, the body may be incomplete.
    const isWhole = length !== null || headers.has("transfer-encoding") || isEmbedded(baseUrl);
    return failed(isWhole ? notAPicture : notFound);
  };
  return isSmall ? work() : large(work);
}

/** `isKept`: the address names everything that the picture depends on. */
export async function thumbnailAnswer(
  access: Access,
  caches: { thumbnails: DiskCache<Failure>; pictureBreaker: Breaker },
  thumbnailRequest: Parameters<typeof getThumbnail>[2],
  isKept: boolean,
): Promise<Result<Response, Failure>> {
  const thumbnail = await getThumbnail(access, caches, thumbnailRequest);
  const keptFor = (seconds: number) => (isKept ? `private, max-age=${seconds}, immutable` : "private, no-cache");
  const tooLarge = thumbnail.ok ? undefined : headersIfTooLarge(thumbnail.failure);
  if (!thumbnail.ok && (tooLarge || thumbnail.failure === notAPicture || thumbnail.failure === noPreviewYet)) {
    // One day: a later console may read more kinds of pictures.
    const caching = thumbnail.failure === noPreviewYet ? "private, no-cache" : keptFor(86_400);
    return ok(new Response(null, { status: 204, headers: { "cache-control": caching, ...tooLarge } }));
  }
  if (!thumbnail.ok) return failed(redactForBrowser(thumbnail.failure, access));
  const etag = `"${createHash("sha256").update(thumbnail.value).digest("base64url").slice(0, 27)}"`;
  const headers = { etag, "cache-control": keptFor(31_536_000), "content-type": "image/webp" };
  if (isNamedIn(thumbnailRequest.asker.headers.get("if-none-match") ?? "", etag)) return ok(new Response(null, { status: 304, headers }));
  return ok(new Response(Buffer.from(thumbnail.value), { headers: { ...headers, "content-length": String(thumbnail.value.byteLength) } }));
}

/** A proxy that compresses answers makes the ETag weak. */
function isNamedIn(list: string, etag: string): boolean {
  return list.split(",").some((value) => value.trim().replace(/^W\//, "") === etag);
}
