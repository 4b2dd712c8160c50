// The bytes of a thumbnail: found through the service, opened with care, resized, cached.
// Guarantees: the key is sent only to the connection's own origin; other hosts are opened through the guarded send; time, silence and size
// are bounded; what cannot be shown is a NOT_FOUND, `noPicture` if asking again is useless, or the outage that prevented it.
// Must never: conclude from a silence, a cut-off answer or a page in place of a file what the file is.

import "server-only";
import { errorStatus } from "@/lib/contract/errors";
import { operations } from "@/lib/contract/operations";
import { type Failure, isNotThere } from "@/lib/contract/failure";
import { failed, ok, type Result } from "@/lib/shared/result";
import { createTurns, type Turns } from "@/lib/shared/turns";
import { type Access } from "../connections/access";
import { createDeadline } from "../upstream/deadline";
import { callerWentAway, timedOut, unreachable, unreadable, wasSilent } from "../upstream/failures";
import { type CallInput } from "../upstream/outgoing";
import { openAddress } from "../upstream/open-bytes";
import { isEmbedded } from "../upstream/send";
import { readBytes } from "../upstream/streams";
import { type ThumbnailFit, toThumbnail } from "./resize";
import { type Breaker } from "./breaker";
import { type ThumbnailCache } from "./cache";
import { type PictureSource } from "../connections/seen-assets";

export const edges = [128, 256, 512, 1024] as const;
export type ThumbnailSubject = { asset: string } | { filename: string; subfolder: string; type: string };

const MOST_BYTES = 64 * 1024 ** 2;
const LIMIT_MS = 15_000;
/** Without a byte. A few requests that wait longer would block all others. */
const SILENT_MS = 3_000;
const MADE_AT_ONCE = 16;
/** One for each connection: a service that hangs does not delay other services' pictures. */
const turnsOf = new Map<string, Turns>();
/** Each holds a whole file while it works: this bounds the memory for all connections together. */
const large = createTurns(12);
/** Files announced as smaller do not wait for other connections' large files, which may arrive slowly. */
const SMALL_BYTES = 4 * 1024 ** 2;

/** No service resizes to more than this: for larger edges, the file itself is requested. */
const MOST_SHRUNK = 1024;
/** A service that cannot resize such a large picture may still deliver it; the console's own limits then decide. */
const tooMuchToShrink: ReadonlySet<number> = new Set([400, 413, 415, 422]);

/** The address may have been signed for a limited time, or the picture has moved: the asset is read again for its new address. */
const isOutdated: ReadonlySet<number> = new Set([400, 401, 403, 404, 410]);

const nothing: Failure = { code: "NOT_FOUND", message: "There is no preview.", status: 404 };
/** Several in a row did not arrive: the service is not asked for now. */
const notNow: Failure = {
  code: "SERVICE_UNAVAILABLE",
  message: "Pictures from this service are not loading right now.",
  status: errorStatus.SERVICE_UNAVAILABLE,
};
/** The service offers none now, but may later. */
export const noPreview: Failure = { ...nothing };
/** The content was read completely, and no picture can be made from it. */
export const noPicture: Failure = { ...nothing, message: "No preview can be made of this content." };

export function getThumbnail(
  access: Access,
  { thumbnails, pictureBreaker }: { thumbnails: ThumbnailCache; pictureBreaker: Breaker },
  wanted: { subject: ThumbnailSubject; edge: number; fit?: ThumbnailFit; version?: string; isFixed: boolean; asker: Request },
): Promise<Result<Uint8Array, Failure>> {
  const { subject, edge, fit = "whole", version = "", isFixed, asker } = wanted;
  const named = "asset" in subject ? ["asset", subject.asset] : ["file", subject.type, subject.subfolder, subject.filename];
  // Includes the fingerprint: another key may see other things under the same id.
  const name = [
    access.connection.id,
    access.connection.baseUrl,
    access.fingerprint ?? "",
    String(edge),
    ...(fit === "whole" ? [] : [fit]),
    version,
    ...named,
  ];
  const turns = turnsOf.get(access.connection.id) ?? createTurns(MADE_AT_ONCE);
  turnsOf.set(access.connection.id, turns);
  return thumbnails.get({ name, isPassing: !isFixed, asker }, (signal) =>
    turns(() => make(access, pictureBreaker, { subject, edge, fit, isFixed, signal })),
  );
}

type Wanted = { subject: ThumbnailSubject; edge: number; fit: ThumbnailFit; isFixed: boolean; signal: AbortSignal };
/** `found`: where the picture of an asset was looked for. */
type Opening = Wanted & { patience: Patience; found: { source?: PictureSource } };

/** Unless the breaker has paused the service. */
async function make(access: Access, breaker: Breaker, wanted: Wanted): Promise<Result<Uint8Array, Failure>> {
  // No client waits for it any more: the next one gets its turn.
  if (wanted.signal.aborted) return failed(callerWentAway());
  const { id } = access.connection;
  const waitMs = breaker.enterMs(id);
  if (waitMs > 0) return failed({ ...notNow, retryAfterMs: waitMs });
  const patience = patienceWith(access, wanted.signal);
  let outcome: Parameters<Breaker["tell"]>[1] = "left";
  try {
    const made = await drawnOrFile(access, { ...wanted, patience, found: {} });
    if (!made.ok && wanted.signal.aborted) return failed(callerWentAway());
    outcome = !made.ok && patience.wasLate() ? "silent" : "answered";
    return made;
  } finally {
    breaker.tell(id, outcome);
  }
}

type Patience = {
  /** One exchange with its limits. An answer that asks to wait is passed on too: it is not a silence. */
  ask<T>(exchange: (limits: { exchangeMs: number; attempts: 1 }) => Promise<Result<T, Failure>>, of?: Origin): Promise<Result<T, Failure>>;
  /** Reads one body; every byte restarts the time limit. */
  read<T>(work: (signal: AbortSignal, touch: () => void) => Promise<Result<T, Failure>>, of?: Origin): Promise<Result<T, Failure>>;
  /** Whether the service itself was late. */
  wasLate(): boolean;
};
/** `isForeign`: another host's answer, which says nothing about the service. */
type Origin = { isForeign: boolean };

function patienceWith({ connection: { baseUrl }, upstreamOptions: { limits } }: Access, signal: AbortSignal): Patience {
  const wholeMs = Math.min(LIMIT_MS, limits?.readMs ?? LIMIT_MS);
  // Pictures drawn in this process send no byte until they are done.
  const silentMs = isEmbedded(baseUrl) ? wholeMs : Math.min(SILENT_MS, wholeMs);
  let wasLate = false;
  const noted = <T>(result: Result<T, Failure>, of?: Origin) => {
    wasLate ||= !result.ok && wasSilent(result.failure) && !of?.isForeign;
    return result;
  };
  return {
    ask: async (exchange, of) => noted(await exchange({ exchangeMs: silentMs, attempts: 1 }), of),
    async read(work, of) {
      const deadline = createDeadline(silentMs, signal, wholeMs);
      const begunMs = performance.now();
      try {
        const result = await work(deadline.signal, deadline.touch);
        if (result.ok || !deadline.expired) return result;
        return noted(failed(timedOut(baseUrl, performance.now() - begunMs < wholeMs ? silentMs : wholeMs)), of);
      } finally {
        deadline.clear();
      }
    },
    wasLate: () => wasLate,
  };
}

/** If its preview cannot be used, a picture is drawn from its file. */
async function drawnOrFile(access: Access, wanted: Opening): Promise<Result<Uint8Array, Failure>> {
  const made = await drawn(access, wanted);
  const { source } = wanted.found;
  if (made.ok || wanted.signal.aborted || !source?.preview_url || !source.mime_type?.startsWith("image/")) return made;
  // A service that is down, or asks to wait, is not asked for more.
  if (wanted.patience.wasLate() || (isOwn(access, source.preview_url) && isPassing.has(made.failure.status))) return made;
  const ofFile = await drawn(access, { ...wanted, subject: fileOf(source) });
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

function isOwn({ connection: { baseUrl } }: Access, previewUrl: string): boolean {
  return URL.canParse(previewUrl, baseUrl) && new URL(previewUrl, baseUrl).origin === new URL(baseUrl).origin;
}

function fileOf({ asset_hash: hash, name }: PictureSource) {
  return { filename: hash ?? name, subfolder: "", type: "input" };
}

async function drawn(access: Access, wanted: Opening): Promise<Result<Uint8Array, Failure>> {
  const made = await shrunk(access, wanted, await open(access, wanted));
  if (!made.ok) return made;
  const { thumbnail, wantedEdge } = made.value;
  if (wantedEdge === undefined) return ok(thumbnail);
  // The service has resized a very long picture to a strip: request it again, as large as the box needs it.
  const wider = { ...wanted, edge: wantedEdge };
  const better = await shrunk(access, wider, await open(access, wider), wanted.edge);
  // Given up while fetching the larger one: the strip must not be cached in its place.
  if (wanted.signal.aborted) return failed(callerWentAway());
  return ok(better.ok ? better.value.thumbnail : thumbnail);
}

async function shrunk(access: Access, wanted: Opening, opened: Result<Response, Failure>, edge = wanted.edge) {
  if (!opened.ok) return opened;
  const { baseUrl } = access.connection;
  const previewUrl = "asset" in wanted.subject ? wanted.found.source?.preview_url : undefined;
  const isForeign = !!previewUrl && !isOwn(access, previewUrl);
  const { headers, status, body } = opened.value;
  const length = headers.get("content-length");
  const isSmall = Number(length ?? Infinity) <= SMALL_BYTES;
  const work = async () => {
    const read = await wanted.patience.read(
      (signal, onChunk) =>
        readBytes(body, isSmall ? SMALL_BYTES : MOST_BYTES, { signal, onChunk }).then(ok, (error: unknown) =>
          failed(unreachable(baseUrl, error)),
        ),
      { isForeign },
    );
    if (!read.ok) return read;
    const made = read.value && (await toThumbnail(read.value, { ...wanted, edge }));
    if (made === undefined) return failed(nothing);
    if (made !== "unreadable") return ok(made);
    // A page in place of a file is a sign of an outage, and says nothing about the file.
    if (/^\s*(?:text\/html|application\/json)\b/i.test(headers.get("content-type") ?? ""))
      return failed(unreadable(baseUrl, status, "it answers a page in the place of a file"));
    // If only the end of the connection marked the end, the body may be incomplete.
    const isWhole = length !== null || headers.has("transfer-encoding") || isEmbedded(baseUrl);
    return failed(isWhole ? noPicture : nothing);
  };
  return isSmall ? work() : large(work);
}

async function open(access: Access, opening: Opening): Promise<Result<Response, Failure>> {
  const { subject } = opening;
  if ("filename" in subject) return view(access, subject, opening);
  const seen = opening.isFixed ? access.seenAsset(subject.asset) : undefined;
  if (seen && !hasPicture(seen)) return failed(noPreview);
  const shown = seen && (await openPicture(access, seen, opening));
  if (shown && (shown.ok || !isOutdated.has(shown.failure.status))) return shown;
  const asset = await opening.patience.ask((limits) =>
    access.upstream.call(operations.getAsset, { params: { id: subject.asset }, signal: opening.signal, limits }),
  );
  return asset.ok ? openPicture(access, asset.value, opening) : asset;
}

function hasPicture({ preview_url: previewUrl = "", mime_type: mimeType = "" }: PictureSource): boolean {
  return previewUrl !== "" || mimeType.startsWith("image/");
}

async function openPicture(access: Access, source: PictureSource, opening: Opening): Promise<Result<Response, Failure>> {
  if (!hasPicture(source)) return failed(noPreview);
  opening.found.source = source;
  const shown = source.preview_url ? await preview(access, source.preview_url, opening) : await view(access, fileOf(source), opening);
  // The asset exists but its picture does not, as at a service that delivers no files.
  return !shown.ok && isNotThere(shown.failure) ? failed(noPreview) : shown;
}

async function view(
  access: Access,
  file: { filename: string; subfolder: string; type: string },
  { edge, patience, signal }: Opening,
): Promise<Result<Response, Failure>> {
  const ask = (query: CallInput["query"]) => patience.ask((limits) => access.upstream.forward(operations.view, { query, signal, limits }));
  if (edge <= MOST_SHRUNK) {
    const answer = await ask({ ...file, res: edge });
    if (answer.ok || !tooMuchToShrink.has(answer.failure.status)) return answer;
  }
  return ask(file);
}

async function preview(access: Access, previewUrl: string, opening: Opening): Promise<Result<Response, Failure>> {
  const base = new URL(access.connection.baseUrl);
  if (!URL.canParse(previewUrl, base)) return failed(nothing);
  const url = new URL(previewUrl, base);
  // A relative address starts at the base URL's path; the service may or may not have included that path.
  const below = base.pathname.replace(/\/+$/, "");
  if (previewUrl.startsWith("/") && !url.pathname.startsWith(`${below}/`)) url.pathname = below + url.pathname;
  if (url.origin === base.origin && url.pathname.endsWith(operations.view.path)) {
    const filename = url.searchParams.get("filename");
    const file = { subfolder: url.searchParams.get("subfolder") ?? "", type: url.searchParams.get("type") ?? "output" };
    if (filename) return view(access, { ...file, filename }, opening);
  }
  const options = { ...access.upstreamOptions, now: Date.now };
  const open = (limitMs: number) => openAddress({ ...options, limitMs }, url, { signal: opening.signal });
  return opening.patience.ask(({ exchangeMs }) => open(exchangeMs), { isForeign: url.origin !== base.origin });
}
