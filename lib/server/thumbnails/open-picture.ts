// Opens the source image of a thumbnail.

import "server-only";
import { type Failure, isNotThere } from "@/lib/contract/failure";
import { isObject } from "@/lib/contract/json/json";
import { operations } from "@/lib/contract/operations";
import { TOO_LARGE_HEADER } from "@/lib/shared/picture-size";
import { failed, type Result } from "@/lib/shared/result";
import { type Access } from "../connections/access";
import { type PictureSource } from "../connections/seen-assets";
import { createDeadline } from "../upstream/deadline";
import { timedOut, wasSilent } from "../upstream/failures";
import { openAddress } from "../upstream/open-bytes";
import { type CallInput } from "../upstream/outgoing";
import { isEmbedded } from "../upstream/send";

type Size = { width: number; height: number };

export function tooLargeToShow({ width, height }: Size): Failure {
  return { code: "UNPROCESSABLE", message: "The picture is too large to preview.", status: 422, details: { width, height } };
}

/** Undefined for any other failure. */
export function headersIfTooLarge({ code, details }: Failure): Record<string, string> | undefined {
  if (code !== "UNPROCESSABLE" || !isObject(details) || typeof details.width !== "number" || typeof details.height !== "number")
    return undefined;
  return { [TOO_LARGE_HEADER]: `${details.width}x${details.height}` };
}

/** Nothing is known of the content: it is too large, say, or its end is missing. */
export const nothing: Failure = { code: "NOT_FOUND", message: "There is no preview.", status: 404 };
/** The service offers none now, but may later. */
export const noPreview: Failure = { ...nothing };
/** The content was read completely, and no picture can be made from it. */
export const noPicture: Failure = { ...nothing, message: "No preview can be made of this content." };

const LIMIT_MS = 15_000;
const SILENT_MS = 3_000;

export type Patience = {
  /** One exchange with its limits. An answer that asks to wait is passed on too: it is not a silence. */
  ask<T>(exchange: (limits: { exchangeMs: number; attempts: 1 }) => Promise<Result<T, Failure>>, of?: Origin): Promise<Result<T, Failure>>;
  /** Reads one body; every byte restarts the time limit. */
  read<T>(work: (signal: AbortSignal, touch: () => void) => Promise<Result<T, Failure>>, of?: Origin): Promise<Result<T, Failure>>;
  /** Whether the service itself was late. */
  wasLate(): boolean;
};
/** `isForeign`: another host's answer, which says nothing about the service. */
type Origin = { isForeign: boolean };

export function patienceWith({ connection: { baseUrl }, upstreamOptions: { limits } }: Access, signal: AbortSignal): Patience {
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

type FileSubject = { filename: string; subfolder: string; type: string };
export type ThumbnailSubject = { asset: string } | FileSubject;

type Opening = { subject: ThumbnailSubject; edge: number; isFixed: boolean; signal: AbortSignal; patience: Patience };
type Opened = { answer: Result<Response, Failure>; source?: PictureSource | undefined };

/** No service resizes to more than this: for larger edges, the file itself is requested. */
const MAX_SHRUNK = 1024;
/** A service that cannot resize such a large picture may still deliver it; the console's own limits then decide. */
const tooMuchToShrink: ReadonlySet<number> = new Set([400, 413, 415, 422]);
/** The address may have been signed for a limited time, or the picture has moved: the asset is read again for its new address. */
const isOutdated: ReadonlySet<number> = new Set([400, 401, 403, 404, 410]);

export async function openSubject(access: Access, opening: Opening): Promise<Opened> {
  const { subject, signal } = opening;
  if ("filename" in subject) return { answer: await view(access, subject, opening) };
  const seen = opening.isFixed ? access.seenAsset(subject.asset) : undefined;
  if (seen) {
    if (!hasPicture(seen)) return { answer: failed(noPreview) };
    const answer = await openPicture(access, seen, opening);
    if (answer.ok || !isOutdated.has(answer.failure.status)) return { answer, source: seen };
  }
  const asset = await opening.patience.ask((limits) =>
    access.upstream.call(operations.getAsset, { params: { id: subject.asset }, signal, limits }),
  );
  if (!asset.ok) return { answer: asset, source: seen };
  if (!hasPicture(asset.value)) return { answer: failed(noPreview), source: seen };
  return { answer: await openPicture(access, asset.value, opening), source: asset.value };
}

function hasPicture({ preview_url: previewUrl = "", mime_type: mimeType = "" }: PictureSource): boolean {
  return previewUrl !== "" || mimeType.startsWith("image/");
}

async function openPicture(access: Access, source: PictureSource, opening: Opening): Promise<Result<Response, Failure>> {
  const answer = source.preview_url ? await preview(access, source.preview_url, opening) : await view(access, fileOf(source), opening);
  // The asset exists but its picture does not, as at a service that delivers no files.
  return !answer.ok && isNotThere(answer.failure) ? failed(noPreview) : answer;
}

export function fileOf({ asset_hash: hash, name }: PictureSource): FileSubject {
  return { filename: hash ?? name, subfolder: "", type: "input" };
}

async function view(access: Access, file: FileSubject, { edge, patience, signal }: Opening): Promise<Result<Response, Failure>> {
  const ask = (query: CallInput["query"]) => patience.ask((limits) => access.upstream.forward(operations.view, { query, signal, limits }));
  if (edge <= MAX_SHRUNK) {
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

export function isOwn({ connection: { baseUrl } }: Access, previewUrl: string): boolean {
  return URL.canParse(previewUrl, baseUrl) && new URL(previewUrl, baseUrl).origin === new URL(baseUrl).origin;
}
