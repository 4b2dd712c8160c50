import { isObject } from "@/lib/contract/json/json";
import { parseExactJson } from "@/lib/contract/json/parse-json";
import { type Previews, type StoredAsset } from "./asset-row";
import { extensionOf, isImage } from "./media-type";
import { previewKindOf } from "./thumbnails/placeholder";

export function fileNameOf(asset: { hash: string; media_type: string; name: string }): string {
  return `${asset.hash}.${extensionOf(asset.media_type, asset.name)}`;
}

function typeOf(tags: readonly string[]): "input" | "output" | "temp" {
  return tags.includes("output") ? "output" : tags.includes("temp") ? "temp" : "input";
}

const PREVIEW_EDGE = 512;
/** Kinds whose preview shows something of the content; an icon of the kind alone is not worth a URL. */
const previewed = new Set(["image", "video", "audio"]);

export function toAsset(asset: StoredAsset, baseUrl: string, previews: Previews = new Map(), createdNew?: boolean) {
  // If the chosen preview was deleted or is not visible to the user, the asset is shown without it.
  const chosen = asset.preview_id === null || asset.preview_id === asset.id ? undefined : previews.get(asset.preview_id);
  const shown = chosen ?? asset;
  return {
    id: asset.id,
    name: asset.name,
    size: asset.size,
    // Newer services of the interface use the names `hash` and `job_id`; both names are sent.
    asset_hash: `blake3:${asset.hash}`,
    hash: `blake3:${asset.hash}`,
    mime_type: asset.mime_type ?? asset.media_type,
    tags: asset.tags,
    user_metadata: readMetadata(asset.metadata),
    ...(previewed.has(previewKindOf(shown.media_type, fileNameOf(shown))) && { preview_url: previewUrl(shown, baseUrl) }),
    preview_id: chosen?.id ?? (isImage(asset.media_type) || asset.preview_id === asset.id ? asset.id : null),
    prompt_id: asset.prompt_id,
    job_id: asset.prompt_id,
    created_at: toIso(asset.created_at),
    updated_at: toIso(asset.updated_at),
    last_access_time: toIso(asset.last_access_time),
    is_immutable: asset.origin === "shipped",
    ...(createdNew !== undefined && { created_new: createdNew }),
  };
}

function previewUrl(asset: StoredAsset, baseUrl: string): string {
  const query = new URLSearchParams({ filename: fileNameOf(asset), type: typeOf(asset.tags), res: String(PREVIEW_EDGE) });
  return `${baseUrl}/api/view?${query.toString()}`;
}

/** Damaged metadata reads as empty: one damaged row must not break the whole list. */
export function readMetadata(text: string): Record<string, unknown> {
  try {
    const value: unknown = parseExactJson(text);
    return isObject(value) ? value : {};
  } catch {
    return {}; // as above
  }
}

const LAST_MOMENT = 8.64e15;

function toIso(at: number): string {
  return new Date(Math.min(Math.max(at, 0), LAST_MOMENT)).toISOString();
}
