// Streams a ZIP archive of the selected assets.

import "server-only";
import { makeZip } from "client-zip";
import { type ArchiveSelection, MAX_ARCHIVED_FILES } from "@/lib/contract/console";
import { createFailure, type Failure, isNotFound } from "@/lib/contract/failure";
import { operations } from "@/lib/contract/operations";
import { toFileName } from "@/lib/contract/plain-line";
import { type Asset, assetsQuerySchema } from "@/lib/contract/schemas/asset";
import { maskText } from "@/lib/contract/secrets/secret-texts";
import { toMilliseconds } from "@/lib/contract/times";
import { getAssetFile, toAssetView } from "@/lib/contract/views/asset-view";
import { failed, ok, type Result } from "@/lib/shared/result";
import { toByteStream } from "@/lib/shared/web-stream";
import { type Access } from "../connections/access";
import { readQuery } from "../requests/read-request";
import { redactForBrowser } from "../responses/redact";

const PAGE_SIZE = 500;

type AssetResult = Result<Asset, Failure & { asset?: string }>;

async function* readChosenAssets(access: Access, choice: ArchiveSelection, signal: AbortSignal): AsyncGenerator<AssetResult, void> {
  if ("ids" in choice) {
    for (const id of new Set(choice.ids)) {
      const asset = await access.upstream.call(operations.getAsset, { params: { id }, signal });
      if (!asset.ok && (await access.checkRights())) return yield asset;
      yield asset.ok ? asset : failed({ ...redactForBrowser(asset.failure, access), asset: id });
    }
    return;
  }
  const listQueryResult = parseListQuery(choice.query);
  if (!listQueryResult.ok) return yield listQueryResult;
  let seenIds: ReadonlySet<string> = new Set();
  for (let offset = 0; offset < MAX_ARCHIVED_FILES;) {
    const query = { ...listQueryResult.value, limit: Math.min(PAGE_SIZE, MAX_ARCHIVED_FILES - offset), offset };
    const page = await access.upstream.call(operations.listAssets, { query, signal });
    if (!page.ok) return yield failed(redactForBrowser(page.failure, access));
    const newAssets = page.value.assets.filter(({ id }) => !seenIds.has(id));
    for (const asset of newAssets) yield ok(asset);
    offset += page.value.assets.length;
    seenIds = new Set(page.value.assets.map(({ id }) => id));
    const { has_more: hasMore, total } = page.value;
    if (newAssets.length === 0 || hasMore === false || (total !== undefined && offset >= total)) return;
  }
}

/** Returns the number of chosen assets, or undefined if the service doesn't report a total. */
export async function countChosenAssets(
  access: Access,
  choice: ArchiveSelection,
  signal: AbortSignal,
): Promise<Result<number | undefined, Failure>> {
  if ("ids" in choice) return ok(new Set(choice.ids).size);
  const listQueryResult = parseListQuery(choice.query);
  if (!listQueryResult.ok) return listQueryResult;
  const page = await access.upstream.call(operations.listAssets, { query: { ...listQueryResult.value, limit: 1, offset: 0 }, signal });
  return page.ok ? ok(page.value.total) : failed(redactForBrowser(page.failure, access));
}

function parseListQuery(query: string): Result<Record<string, unknown>, Failure> {
  return readQuery(new URLSearchParams(query), assetsQuerySchema);
}

// File names in an archive are unique even on case-insensitive file systems, and can't escape the folder it is extracted to.
const MAX_STEM_LENGTH = 180;
const DEFAULT_NAME = "file";

function createNameAllocator() {
  const usedNames = new Set<string>();
  return (path: string): string => {
    const { stem, extension } = toSafeName(path);
    for (let count = 1; ; count += 1) {
      const name = count === 1 ? stem + extension : `${stem} (${count})${extension}`;
      const key = name.toLowerCase();
      if (usedNames.has(key)) continue;
      usedNames.add(key);
      return name;
    }
  };
}

/** Slashes, and characters that some systems reject, become underscores. */
function toSafeName(path: string): { stem: string; extension: string } {
  const safeName = toFileName(path)
    .replace(/[\\/:*?"<>|]/g, "_")
    .replace(/^[. ]+|(?<![. ])[. ]+$/g, "");
  const dotIndex = safeName.lastIndexOf(".");
  const extension = dotIndex > 0 && safeName.length - dotIndex <= 12 ? safeName.slice(dotIndex) : "";
  const stem = [...safeName.slice(0, safeName.length - extension.length)].slice(0, MAX_STEM_LENGTH).join("");
  return { stem: stem || DEFAULT_NAME, extension };
}

const MISSING_FILES_NAME = "NOT INCLUDED.txt";

type Entry = { name: string; lastModified: Date; input: ReadableStream<Uint8Array> | string };

export function streamArchive(access: Access, { choice, now, signal }: { choice: ArchiveSelection; now: number; signal: AbortSignal }) {
  const disconnectController = new AbortController();
  const zip = makeZip(readEntries(access, { choice, now, signal: AbortSignal.any([signal, disconnectController.signal]) })).getReader();
  return toByteStream(
    () => zip.read(),
    () => {
      disconnectController.abort();
      return zip.cancel();
    },
  );
}

const emptyResponseFailure = createFailure("UPSTREAM_UNREADABLE", "The service returned no content.");

type EntryOptions = { choice: ArchiveSelection; now: number; signal: AbortSignal };

async function* readEntries(access: Access, { choice, now, signal }: EntryOptions): AsyncGenerator<Entry, void> {
  const allocateName = createNameAllocator();
  const missingFiles: string[] = [];
  for await (const result of readChosenAssets(access, choice, signal)) {
    if (signal.aborted) return;
    if (!result.ok) {
      missingFiles.push(`${result.failure.asset ?? "the list"}: ${result.failure.code} ${result.failure.message}`);
      continue;
    }
    const asset = result.value;
    const assetBytesResult = await openAssetBytes(access, asset, signal);
    const body = assetBytesResult.ok ? assetBytesResult.value.body : null;
    if (body) {
      yield {
        name: allocateName(getDisplayName(asset)),
        lastModified: new Date(toMilliseconds(asset.created_at) ?? now),
        input: body,
      };
    } else {
      const { code, message } = assetBytesResult.ok ? emptyResponseFailure : assetBytesResult.failure;
      missingFiles.push(`${getDisplayName(asset)} (${asset.id}): ${code} ${message}`);
    }
  }
  if (missingFiles.length > 0)
    yield { name: allocateName(MISSING_FILES_NAME), lastModified: new Date(now), input: `${missingFiles.join("\n")}\n` };
}

function getDisplayName({ display_name: displayName, name, id }: Asset): string {
  return maskText(displayName || name || id);
}

/** Streams the content of an asset: tries the extension endpoint, then the file by hash or name. Returns the last failure. */
export async function openAssetBytes(
  access: Access,
  asset: Asset,
  signal: AbortSignal,
  headers: Readonly<Record<string, string>> = {},
): Promise<Result<Response, Failure>> {
  const content = await access.upstream.forward(operations.getAssetContent, { params: { id: asset.id }, signal, headers });
  if (content.ok || !isNotFound(content.failure)) return content;
  const query = { subfolder: "", ...getAssetFile(toAssetView(asset)) };
  return access.upstream.forward(operations.view, { query: { ...query, type: query.type ?? "input" }, signal, headers });
}
