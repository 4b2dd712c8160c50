// Streams a ZIP archive of the selected assets.

import "server-only";
import { makeZip } from "client-zip";
import { type ArchiveChoice, MAX_ARCHIVED } from "@/lib/contract/console";
import { type Failure, isNotThere } from "@/lib/contract/failure";
import { operations } from "@/lib/contract/operations";
import { toFileName } from "@/lib/contract/plain-line";
import { type Asset, assetsQuerySchema } from "@/lib/contract/schemas/asset";
import { maskText } from "@/lib/contract/secrets/secret-texts";
import { toMilliseconds } from "@/lib/contract/times";
import { fileOfAsset, toAssetView } from "@/lib/contract/views/asset-view";
import { failed, ok, type Result } from "@/lib/shared/result";
import { toByteStream } from "@/lib/shared/web-stream";
import { redactForBrowser } from "../answers/redact";
import { type Access } from "../connections/access";
import { readQuery } from "../requests/read-request";

const PAGE = 500;

type AssetResult = Result<Asset, Failure & { asset?: string }>;

async function* chosenAssets(access: Access, choice: ArchiveChoice, signal: AbortSignal): AsyncGenerator<AssetResult, void> {
  if ("ids" in choice) {
    for (const id of new Set(choice.ids)) {
      const asset = await access.upstream.call(operations.getAsset, { params: { id }, signal });
      if (!asset.ok && (await access.lostRights())) return yield asset;
      yield asset.ok ? asset : failed({ ...redactForBrowser(asset.failure, access), asset: id });
    }
    return;
  }
  const listQueryResult = readListQuery(choice.query);
  if (!listQueryResult.ok) return yield listQueryResult;
  let seen: ReadonlySet<string> = new Set();
  for (let offset = 0; offset < MAX_ARCHIVED;) {
    const query = { ...listQueryResult.value, limit: Math.min(PAGE, MAX_ARCHIVED - offset), offset };
    const page = await access.upstream.call(operations.listAssets, { query, signal });
    if (!page.ok) return yield failed(redactForBrowser(page.failure, access));
    const fresh = page.value.assets.filter(({ id }) => !seen.has(id));
    for (const asset of fresh) yield ok(asset);
    offset += page.value.assets.length;
    seen = new Set(page.value.assets.map(({ id }) => id));
    const { has_more: hasMore, total } = page.value;
    if (fresh.length === 0 || hasMore === false || (total !== undefined && offset >= total)) return;
  }
}

/** How many assets the choice covers, if the service counts them. */
export async function countChosen(
  access: Access,
  choice: ArchiveChoice,
  signal: AbortSignal,
): Promise<Result<number | undefined, Failure>> {
  if ("ids" in choice) return ok(new Set(choice.ids).size);
  const listQueryResult = readListQuery(choice.query);
  if (!listQueryResult.ok) return listQueryResult;
  const page = await access.upstream.call(operations.listAssets, { query: { ...listQueryResult.value, limit: 1, offset: 0 }, signal });
  return page.ok ? ok(page.value.total) : failed(redactForBrowser(page.failure, access));
}

function readListQuery(query: string): Result<Record<string, unknown>, Failure> {
  return readQuery(new URLSearchParams(query), assetsQuerySchema);
}

// Names of files inside an archive.
// Names are unique even on case-insensitive file systems. Entries can't escape the folder that the archive is extracted to.
const MAX_LENGTH = 180;
const fallback = "file";

function createFileNames() {
  const usedNames = new Set<string>();
  return (path: string): string => {
    const { stem, ending } = parts(path);
    for (let count = 1; ; count += 1) {
      const name = count === 1 ? stem + ending : `${stem} (${count})${ending}`;
      const key = name.toLowerCase();
      if (usedNames.has(key)) continue;
      usedNames.add(key);
      return name;
    }
  };
}

/** Slashes, and characters that some systems reject, become underscores. */
function parts(path: string): { stem: string; ending: string } {
  const safe = toFileName(path)
    .replace(/[\\/:*?"<>|]/g, "_")
    .replace(/^[. ]+|[. ]+$/g, "");
  const dot = safe.lastIndexOf(".");
  const ending = dot > 0 && safe.length - dot <= 12 ? safe.slice(dot) : "";
  const stem = [...safe.slice(0, safe.length - ending.length)].slice(0, MAX_LENGTH).join("");
  return { stem: stem || fallback, ending };
}

const MISSING = "NOT INCLUDED.txt";

type Entry = { name: string; lastModified: Date; input: ReadableStream<Uint8Array> | string };

export function streamArchive(access: Access, { choice, now, signal }: { choice: ArchiveChoice; now: number; signal: AbortSignal }) {
  const disconnected = new AbortController();
  const zip = makeZip(entries(access, { choice, now, signal: AbortSignal.any([signal, disconnected.signal]) })).getReader();
  return toByteStream(
    () => zip.read(),
    () => {
      disconnected.abort();
      return zip.cancel();
    },
  );
}

type EntryOptions = { choice: ArchiveChoice; now: number; signal: AbortSignal };

async function* entries(access: Access, { choice, now, signal }: EntryOptions): AsyncGenerator<Entry, void> {
  const nameOf = createFileNames();
  const missing: string[] = [];
  for await (const result of chosenAssets(access, choice, signal)) {
    if (signal.aborted) return;
    if (!result.ok) {
      missing.push(`${result.failure.asset ?? "the list"}: ${result.failure.code} ${result.failure.message}`);
      continue;
    }
    const asset = result.value;
    const assetBytesResult = await openAssetBytes(access, asset, signal);
    if (assetBytesResult.ok && assetBytesResult.value.body) {
      yield {
        name: nameOf(shownName(asset)),
        lastModified: new Date(toMilliseconds(asset.created_at) ?? now),
        input: assetBytesResult.value.body,
      };
    } else if (!assetBytesResult.ok)
      missing.push(`${shownName(asset)} (${asset.id}): ${assetBytesResult.failure.code} ${assetBytesResult.failure.message}`);
  }
  if (missing.length > 0) yield { name: nameOf(MISSING), lastModified: new Date(now), input: `${missing.join("\n")}\n` };
}

function shownName({ display_name: displayName, name, id }: Asset): string {
  return maskText(displayName || name || id);
}

// The content of an asset as a stream. Tries the extension first, then the file by its hash or name; if the last one is refused, returns
// that refusal.
export async function openAssetBytes(
  access: Access,
  asset: Asset,
  signal: AbortSignal,
  headers: Readonly<Record<string, string>> = {},
): Promise<Result<Response, Failure>> {
  const content = await access.upstream.forward(operations.getAssetContent, { params: { id: asset.id }, signal, headers });
  if (content.ok || !isNotThere(content.failure)) return content;
  const query = { subfolder: "", ...fileOfAsset(toAssetView(asset)) };
  return access.upstream.forward(operations.view, { query: { ...query, type: query.type ?? "input" }, signal, headers });
}
