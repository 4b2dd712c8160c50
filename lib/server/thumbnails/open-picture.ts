// Opens the picture of an asset or a file: at the service, or where its preview address leads.
// Guarantees: the key is sent only to the connection's own origin; other hosts are opened through the guarded send.

import "server-only";
import { type Failure, isNotThere } from "@/lib/contract/failure";
import { operations } from "@/lib/contract/operations";
import { failed, type Result } from "@/lib/shared/result";
import { type Access } from "../connections/access";
import { type PictureSource } from "../connections/seen-assets";
import { openAddress } from "../upstream/open-bytes";
import { type CallInput } from "../upstream/outgoing";
import { noPreview, nothing } from "./not-shown";
import { type Patience } from "./patience";

type FileSubject = { filename: string; subfolder: string; type: string };
export type ThumbnailSubject = { asset: string } | FileSubject;

/** `isFixed`: its picture never changes. */
type Opening = { subject: ThumbnailSubject; edge: number; isFixed: boolean; signal: AbortSignal; patience: Patience };
/** `source`: where the picture of an asset was looked for. */
type Opened = { answer: Result<Response, Failure>; source?: PictureSource | undefined };

/** No service resizes to more than this: for larger edges, the file itself is requested. */
const MOST_SHRUNK = 1024;
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

export function isOwn({ connection: { baseUrl } }: Access, previewUrl: string): boolean {
  return URL.canParse(previewUrl, baseUrl) && new URL(previewUrl, baseUrl).origin === new URL(baseUrl).origin;
}
