// The bytes behind a thumbnail: found through the service, opened with care, resized, remembered.
// Guarantees: the key goes to the connection's own origin only; another host is opened through the guarded send; time and size are
// bounded; what cannot be shown is a NOT_FOUND, or `noPicture` where asking again is in vain, and the page draws its placeholder.

import "server-only";
import { operations } from "@/lib/contract/operations";
import { type Failure } from "@/lib/contract/failure";
import { failed, ok, type Result } from "@/lib/shared/result";
import { createTurns, type Turns } from "@/lib/shared/turns";
import { type Access } from "../connections/access";
import { callerWentAway } from "../upstream/failures";
import { openAddress } from "../upstream/open-bytes";
import { readBytes } from "../upstream/streams";
import { type ThumbnailFit, toThumbnail } from "./resize";
import { type ThumbnailCache } from "./cache";
import { type PictureSource } from "./seen-assets";

export const edges = [128, 256, 512, 1024] as const;
export type ThumbnailSubject = { asset: string } | { filename: string; subfolder: string; type: string };

const MOST_BYTES = 64 * 1024 ** 2;
const LIMIT_MS = 15_000;
const MADE_AT_ONCE = 16;
/** For each connection its own: a service that hangs holds up nobody else's pictures. */
const turnsOf = new Map<string, Turns>();
/** Each holds one file whole while it is made: this bounds the memory, however many connections there are. */
const large = createTurns(12);
/** What is announced as no more waits for no other connection's large files, which may be long in coming. */
const SMALL_BYTES = 4 * 1024 ** 2;

/** No service shrinks to more: beyond it, the file itself is asked for. */
const MOST_SHRUNK = 1024;
/** A service that shrinks no picture of this size may still hand it out: the console's own bounds judge it then. */
const tooMuchToShrink: ReadonlySet<number> = new Set([400, 413, 415, 422]);
/** There is no picture, or nothing that hands out pictures. */
const isAbsent: ReadonlySet<number> = new Set([404, 405, 501]);

/** The address may be one that was signed for a while, or of a picture that has moved: the asset is asked for its new one. */
const isOutdated: ReadonlySet<number> = new Set([400, 401, 403, 404, 410]);

const nothing: Failure = { code: "NOT_FOUND", message: "There is no preview.", status: 404 };
/** The service offers none: it may one day. */
export const noPreview: Failure = { ...nothing };
/** The content was read whole, and no picture can be made of it. */
export const noPicture: Failure = { ...nothing, message: "No preview can be made of this content." };

export function getThumbnail(
  access: Access,
  cache: ThumbnailCache,
  wanted: { subject: ThumbnailSubject; edge: number; fit?: ThumbnailFit; version?: string; isFixed: boolean; asker: Request },
): Promise<Result<Uint8Array, Failure>> {
  const { subject, edge, fit = "whole", version = "", isFixed, asker } = wanted;
  const named = "asset" in subject ? ["asset", subject.asset] : ["file", subject.type, subject.subfolder, subject.filename];
  // The fingerprint belongs to the name: another key may see other things under the same id.
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
  return cache.get({ name, isPassing: !isFixed, asker }, (signal) => turns(() => make(access, subject, { edge, fit, isFixed, signal })));
}

type Making = Opening & { fit: ThumbnailFit };

async function make(access: Access, subject: ThumbnailSubject, wanted: Making): Promise<Result<Uint8Array, Failure>> {
  const { signal } = wanted;
  // Nobody waits for it any more: its turn is the next one's.
  if (signal.aborted) return failed(callerWentAway());
  const opened = await open(access, subject, wanted);
  if (!opened.ok) return opened;
  const isPage = /^text\/html|json/.test(opened.value.headers.get("content-type") ?? "");
  const made = await shrunk(opened.value, wanted);
  if (made === undefined) return failed(nothing);
  // A page in the place of a file is an outage's, and says nothing of the file.
  if (made === "unreadable") return failed(isPage ? nothing : noPicture);
  // The service has shrunk a very long picture to a strip: it is asked for once more, as large as the box needs it.
  const larger = made.wantedEdge === undefined ? undefined : await open(access, subject, { ...wanted, edge: made.wantedEdge });
  const better = larger?.ok ? await shrunk(larger.value, wanted) : undefined;
  // Given up on the way to the better one: the strip is not to be kept in its place.
  if (signal.aborted) return failed(callerWentAway());
  return ok((typeof better === "object" ? better : made).thumbnail);
}

async function shrunk(answer: Response, wanted: Making) {
  const isSmall = Number(answer.headers.get("content-length") ?? Infinity) <= SMALL_BYTES;
  const work = async () => {
    const bytes = await readWhole(answer, isSmall ? SMALL_BYTES : MOST_BYTES);
    return bytes && (await toThumbnail(bytes, wanted));
  };
  return isSmall ? work() : large(work);
}

type Opening = { edge: number; isFixed: boolean; signal: AbortSignal };

async function open(access: Access, subject: ThumbnailSubject, opening: Opening): Promise<Result<Response, Failure>> {
  if ("filename" in subject) return view(access, subject, opening);
  const seen = opening.isFixed ? access.seenAsset(subject.asset) : undefined;
  if (seen && !hasPicture(seen)) return failed(noPreview);
  const shown = seen && (await openPicture(access, seen, opening));
  if (shown && (shown.ok || !isOutdated.has(shown.failure.status))) return shown;
  const asset = await access.upstream.call(operations.getAsset, { params: { id: subject.asset }, signal: opening.signal });
  return asset.ok ? openPicture(access, asset.value, opening) : asset;
}

function hasPicture({ preview_url: previewUrl = "", mime_type: mimeType = "" }: PictureSource): boolean {
  return previewUrl !== "" || mimeType.startsWith("image/");
}

async function openPicture(access: Access, source: PictureSource, opening: Opening): Promise<Result<Response, Failure>> {
  if (!hasPicture(source)) return failed(noPreview);
  const { preview_url: previewUrl, asset_hash: hash, name } = source;
  const shown = previewUrl
    ? await preview(access, previewUrl, opening)
    : await view(access, { filename: hash ?? name, subfolder: "", type: "input" }, opening);
  // The asset is there: it is its picture that is not, as in all of a service that hands out no files.
  return !shown.ok && isAbsent.has(shown.failure.status) ? failed(noPreview) : shown;
}

async function view(
  access: Access,
  file: { filename: string; subfolder: string; type: string },
  { edge, signal: asked }: Opening,
): Promise<Result<Response, Failure>> {
  const signal = inTime(access, asked);
  if (edge <= MOST_SHRUNK) {
    const answer = await access.upstream.forward(operations.view, { query: { ...file, res: edge }, signal });
    if (answer.ok || !tooMuchToShrink.has(answer.failure.status)) return answer;
  }
  return access.upstream.forward(operations.view, { query: file, signal });
}

function limitMsOf({ upstreamOptions: { limits } }: Access): number {
  return Math.min(LIMIT_MS, limits?.readMs ?? LIMIT_MS);
}

function inTime(access: Access, signal: AbortSignal): AbortSignal {
  return AbortSignal.any([signal, AbortSignal.timeout(limitMsOf(access))]);
}

async function preview(access: Access, previewUrl: string, opening: Opening): Promise<Result<Response, Failure>> {
  const base = new URL(access.connection.baseUrl);
  if (!URL.canParse(previewUrl, base)) return failed(nothing);
  const url = new URL(previewUrl, base);
  // A relative address belongs behind the base URL's own path.
  if (previewUrl.startsWith("/") && base.pathname !== "/") url.pathname = base.pathname.replace(/\/+$/, "") + url.pathname;
  if (url.origin === base.origin && url.pathname.endsWith(operations.view.path)) {
    const filename = url.searchParams.get("filename");
    const file = { subfolder: url.searchParams.get("subfolder") ?? "", type: url.searchParams.get("type") ?? "output" };
    if (filename) return view(access, { ...file, filename }, opening);
  }
  const options = { ...access.upstreamOptions, limitMs: limitMsOf(access), now: Date.now };
  return openAddress(options, url, { signal: inTime(access, opening.signal) });
}

async function readWhole(answer: Response, mostBytes: number): Promise<Uint8Array | undefined> {
  try {
    return await readBytes(answer.body, mostBytes);
  } catch {
    // The other side broke off, or the time is up: there is no preview now.
    return undefined;
  }
}
