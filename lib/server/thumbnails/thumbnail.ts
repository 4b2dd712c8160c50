// Opens, resizes and caches thumbnails. Timeouts and cut-off responses say nothing about the file.

import "server-only";
import { createHash } from "node:crypto";
import { errorStatus, type Failure } from "@/lib/contract/failure";
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
  fileOf,
  headersIfTooLarge,
  isOwn,
  noPicture,
  noPreview,
  nothing,
  openSubject,
  type Patience,
  patienceWith,
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

const notNow: Failure = {
  code: "SERVICE_UNAVAILABLE",
  message: "Pictures from this service are not loading right now.",
  status: errorStatus.SERVICE_UNAVAILABLE,
};

export function getThumbnail(
  access: Access,
  { thumbnails, pictureBreaker }: { thumbnails: DiskCache<Failure>; pictureBreaker: Breaker },
  wanted: { subject: ThumbnailSubject; edge: number; fit?: ThumbnailFit; version?: string; isFixed: boolean; asker: Request },
): Promise<Result<Uint8Array, Failure>> {
  const { subject, edge, fit = "whole", version = "", isFixed, asker } = wanted;
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

type Wanted = { subject: ThumbnailSubject; edge: number; fit: ThumbnailFit; isFixed: boolean; signal: AbortSignal };

async function make(access: Access, breaker: Breaker, wanted: Wanted): Promise<Result<Uint8Array, Failure>> {
  // No client waits for it any more: the next one gets its turn.
  if (wanted.signal.aborted) return failed(callerWentAway());
  const { id } = access.connection;
  const waitMs = breaker.enterMs(id);
  if (waitMs > 0) return failed({ ...notNow, retryAfterMs: waitMs });
  const patience = patienceWith(access, wanted.signal);
  let outcome: Parameters<Breaker["tell"]>[1] = "left";
  try {
    const made = await drawSubjectOrFile(access, { ...wanted, patience });
    if (!made.ok && wanted.signal.aborted) return failed(callerWentAway());
    outcome = !made.ok && patience.wasLate() ? "silent" : "answered";
    return made;
  } finally {
    breaker.tell(id, outcome);
  }
}

type Drawing = Wanted & { patience: Patience };
type Opened = Awaited<ReturnType<typeof openSubject>>;

async function drawSubjectOrFile(access: Access, drawing: Drawing): Promise<Result<Uint8Array, Failure>> {
  const { patience, signal } = drawing;
  const opened = await openSubject(access, drawing);
  const made = await draw(access, drawing, opened);
  const { source } = opened;
  if (made.ok || signal.aborted || !source?.preview_url || !source.mime_type?.startsWith("image/")) return made;
  // A service that is down, or asks to wait, is not asked for more.
  if (patience.wasLate() || (isOwn(access, source.preview_url) && isPassing.has(made.failure.status))) return made;
  const file = { ...drawing, subject: fileOf(source) };
  const ofFile = await draw(access, file, await openSubject(access, file));
  // Final only if both sources have no picture.
  const isFinal = made.failure === noPicture || made.failure === noPreview;
  return ofFile.ok || (isFinal && !saysNo(ofFile.failure)) ? ofFile : made;
}

/** No answer, or one that is only about this moment. */
const isPassing: ReadonlySet<number> = new Set([0, 401, 429, 502, 503, 504]);

/** The file exists but cannot be drawn, or does not exist: not an outage. */
function saysNo(failure: Failure): boolean {
  if (failure === nothing) return false;
  return (failure.status >= 400 && failure.status < 500 && !isPassing.has(failure.status)) || failure.status === 501;
}

async function draw(access: Access, drawing: Drawing, opened: Opened): Promise<Result<Uint8Array, Failure>> {
  const made = await shrink(access, drawing, opened);
  if (!made.ok) return made;
  const { thumbnail, wantedEdge } = made.value;
  if (wantedEdge === undefined) return ok(thumbnail);
  // The service has resized a very long picture to a strip: request it again, as large as the box needs it.
  const better = await shrink(access, drawing, await openSubject(access, { ...drawing, edge: wantedEdge }));
  // Given up while fetching the larger one: the strip must not be cached in its place.
  if (drawing.signal.aborted) return failed(callerWentAway());
  return ok(better.ok ? better.value.thumbnail : thumbnail);
}

async function shrink(access: Access, { patience, ...wanted }: Drawing, { answer, source }: Opened) {
  if (!answer.ok) return answer;
  const { baseUrl } = access.connection;
  const isForeign = !!source?.preview_url && !isOwn(access, source.preview_url);
  const { headers, status, body } = answer.value;
  if (/^\s*(?:video|audio)\//i.test(headers.get("content-type") ?? "")) {
    await body?.cancel();
    return failed(noPicture);
  }
  const length = headers.get("content-length");
  const isSmall = Number(length ?? Infinity) <= SMALL_BYTES;
  const work = async () => {
    const read = await patience.read(
      (signal, onChunk) =>
        readBytes(body, isSmall ? SMALL_BYTES : MAX_BYTES, { signal, onChunk }).then(ok, (error: unknown) =>
          failed(unreachable(baseUrl, error)),
        ),
      { isForeign },
    );
    if (!read.ok) return read;
    const made = read.value && (await toThumbnail(read.value, wanted));
    if (made === undefined) return failed(nothing);
    if (made !== "unreadable") return "tooLarge" in made ? failed(tooLargeToShow(made.tooLarge)) : ok(made);
    // A page in place of a file is a sign of an outage, and says nothing about the file.
    if (/^\s*(?:text\/html|application\/json)\b/i.test(headers.get("content-type") ?? ""))
      return failed(unreadable(baseUrl, status, "it answers a page in the place of a file"));
    // If only the end of the connection marked the end, the body may be incomplete.
    const isWhole = length !== null || headers.has("transfer-encoding") || isEmbedded(baseUrl);
    return failed(isWhole ? noPicture : nothing);
  };
  return isSmall ? work() : large(work);
}

/** `isKept`: the address names everything that the picture depends on. */
export async function thumbnailAnswer(
  access: Access,
  made: { thumbnails: DiskCache<Failure>; pictureBreaker: Breaker },
  asked: Parameters<typeof getThumbnail>[2],
  isKept: boolean,
): Promise<Result<Response, Failure>> {
  const thumbnail = await getThumbnail(access, made, asked);
  const keptFor = (seconds: number) => (isKept ? `private, max-age=${seconds}, immutable` : "private, no-cache");
  const tooLarge = thumbnail.ok ? undefined : headersIfTooLarge(thumbnail.failure);
  if (!thumbnail.ok && (tooLarge || thumbnail.failure === noPicture || thumbnail.failure === noPreview)) {
    // One day: a later console may read more kinds of pictures.
    const caching = thumbnail.failure === noPreview ? "private, no-cache" : keptFor(86_400);
    return ok(new Response(null, { status: 204, headers: { "cache-control": caching, ...tooLarge } }));
  }
  if (!thumbnail.ok) return failed(redactForBrowser(thumbnail.failure, access));
  const etag = `"${createHash("sha256").update(thumbnail.value).digest("base64url").slice(0, 27)}"`;
  const headers = { etag, "cache-control": keptFor(31_536_000), "content-type": "image/webp" };
  if (isNamedIn(asked.asker.headers.get("if-none-match") ?? "", etag)) return ok(new Response(null, { status: 304, headers }));
  return ok(new Response(Buffer.from(thumbnail.value), { headers: { ...headers, "content-length": String(thumbnail.value.byteLength) } }));
}

/** A proxy that compresses answers makes the ETag weak. */
function isNamedIn(list: string, etag: string): boolean {
  return list.split(",").some((one) => one.trim().replace(/^W\//, "") === etag);
}
