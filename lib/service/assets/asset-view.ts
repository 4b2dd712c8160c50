// Reads assets and converts them to the API's format.

import { type Selectable } from "kysely";
import { isObject } from "@/lib/contract/json/json";
import { parseExactJson } from "@/lib/contract/json/parse-json";
import { query, type Reader } from "../store/database";
import { type AssetRow } from "../store/schema";
import { PUBLIC_OWNER } from "../users/keys";
import { getExtension, getPreviewKind, isImage } from "./media-type";

export function getFileName(asset: { hash: string; media_type: string; name: string }): string {
  return `${asset.hash}.${getExtension(asset.media_type, asset.name)}`;
}

function getAssetType(tags: readonly string[]): "input" | "output" | "temp" {
  return tags.includes("output") ? "output" : tags.includes("temp") ? "temp" : "input";
}

const PREVIEW_SIZE_PX = 512;
/** Kinds whose preview shows the content. Other kinds only have an icon, which needs no URL. */
const previewKinds = new Set(["image", "video", "audio"]);

export function toAsset(asset: StoredAsset, baseUrl: string, previews: Previews = new Map(), isNew?: boolean) {
  // If the chosen preview was deleted or is not visible to the user, the asset is shown without it.
  const chosenPreview = asset.preview_id === null || asset.preview_id === asset.id ? undefined : previews.get(asset.preview_id);
  const previewAsset = chosenPreview ?? asset;
  return {
    id: asset.id,
    name: asset.name,
    size: asset.size,
    // Newer versions of the API use the names `hash` and `job_id`, so both names are sent.
    asset_hash: `blake3:${asset.hash}`,
    hash: `blake3:${asset.hash}`,
    mime_type: asset.mime_type ?? asset.media_type,
    tags: asset.tags,
    user_metadata: parseMetadata(asset.metadata),
    ...(previewKinds.has(getPreviewKind(previewAsset.media_type, getFileName(previewAsset))) && {
      preview_url: createPreviewUrl(previewAsset, baseUrl),
    }),
    preview_id: chosenPreview?.id ?? (isImage(asset.media_type) || asset.preview_id === asset.id ? asset.id : null),
    prompt_id: asset.prompt_id,
    job_id: asset.prompt_id,
    created_at: toIsoTime(asset.created_at),
    updated_at: toIsoTime(asset.updated_at),
    last_access_time: toIsoTime(asset.last_access_time),
    is_immutable: asset.origin === "shipped",
    ...(isNew !== undefined && { created_new: isNew }),
  };
}

function createPreviewUrl(asset: StoredAsset, baseUrl: string): string {
  const params = new URLSearchParams({ filename: getFileName(asset), type: getAssetType(asset.tags), res: String(PREVIEW_SIZE_PX) });
  return `${baseUrl}/api/view?${params.toString()}`;
}

/** Damaged metadata counts as empty, because one damaged row must not break the whole list. */
export function parseMetadata(text: string): Record<string, unknown> {
  try {
    const value: unknown = parseExactJson(text);
    return isObject(value) ? value : {};
  } catch {
    return {};
  }
}

const MAX_DATE_MS = 8.64e15;

function toIsoTime(timeMs: number): string {
  return new Date(Math.min(Math.max(timeMs, 0), MAX_DATE_MS)).toISOString();
}

export type StoredAsset = Selectable<AssetRow> & { media_type: string; tags: string[] };

const assetsWithBlobs = query
  .selectFrom("assets")
  .innerJoin("blobs", "blobs.hash", "assets.hash")
  .selectAll("assets")
  .select("blobs.media_type");

export async function findAsset(reader: Reader, id: string, owners: readonly number[]): Promise<StoredAsset | undefined> {
  const row = await reader.row(assetsWithBlobs.where("assets.id", "=", id.toLowerCase()).where("owner_id", "in", owners));
  return row && (await attachTags(reader, [row]))[0];
}

export async function readAssets(reader: Reader, seqs: readonly number[]): Promise<StoredAsset[]> {
  if (seqs.length === 0) return [];
  const rows = new Map((await reader.rows(assetsWithBlobs.where("assets.seq", "in", seqs))).map((row) => [row.seq, row]));
  return attachTags(
    reader,
    seqs.flatMap((seq) => rows.get(seq) ?? []),
  );
}

/** Assets that other assets use as previews, by id, if the user may see them. */
export type Previews = ReadonlyMap<string, StoredAsset>;

export async function readPreviews(reader: Reader, userId: number, assets: readonly StoredAsset[]): Promise<Previews> {
  const ids = new Set(assets.flatMap((asset) => (asset.preview_id === null || asset.preview_id === asset.id ? [] : asset.preview_id)));
  if (ids.size === 0) return new Map();
  const rows = await reader.rows(assetsWithBlobs.where("assets.id", "in", [...ids]).where("owner_id", "in", [userId, PUBLIC_OWNER]));
  return new Map((await attachTags(reader, rows)).map((preview) => [preview.id, preview]));
}

async function attachTags(reader: Reader, rows: readonly Omit<StoredAsset, "tags">[]): Promise<StoredAsset[]> {
  if (rows.length === 0) return [];
  const tags = new Map<number, string[]>(rows.map((row) => [row.seq, []]));
  const seqs = [...tags.keys()];
  const tagRows = await reader.rows(
    query.selectFrom("asset_tags").selectAll().where("asset_seq", "in", seqs).orderBy("asset_seq").orderBy("position"),
  );
  for (const { asset_seq, tag } of tagRows) tags.get(asset_seq)?.push(tag);
  return rows.map((row) => ({ ...row, tags: tags.get(row.seq) ?? [] }));
}
