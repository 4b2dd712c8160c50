// An asset as the interface shows it. Every field of the resource is there; times are RFC 3339; URLs are absolute.

import { isImage, extensionOf } from "./media-type";
import { type StoredAsset } from "./asset-row";

/** The name under which bytes are read back and given to LoadImage. */
export function fileNameOf(asset: { hash: string; media_type: string; name: string }): string {
  return `${asset.hash}.${extensionOf(asset.media_type, asset.name)}`;
}

function typeOf(tags: readonly string[]): "input" | "output" | "temp" {
  return tags.includes("output") ? "output" : tags.includes("temp") ? "temp" : "input";
}

const PREVIEW_EDGE = 512;

export function toAsset(asset: StoredAsset, baseUrl: string, previewOf: (id: string) => StoredAsset | undefined, createdNew?: boolean) {
  const pictured = isImage(asset.media_type);
  const preview_id = asset.preview_id ?? (pictured ? asset.id : null);
  const shown = asset.preview_id === null ? asset : previewOf(asset.preview_id);
  return {
    id: asset.id,
    name: asset.name,
    size: asset.size,
    asset_hash: `blake3:${asset.hash}`,
    mime_type: asset.mime_type ?? asset.media_type,
    tags: asset.tags,
    user_metadata: readMetadata(asset.metadata),
    ...(shown && isImage(shown.media_type) && { preview_url: previewUrl(shown, baseUrl) }),
    preview_id,
    prompt_id: asset.prompt_id,
    created_at: new Date(asset.created_at).toISOString(),
    updated_at: new Date(asset.updated_at).toISOString(),
    last_access_time: new Date(asset.last_access_time).toISOString(),
    is_immutable: asset.origin === "shipped",
    ...(createdNew !== undefined && { created_new: createdNew }),
  };
}

function previewUrl(asset: StoredAsset, baseUrl: string): string {
  const query = new URLSearchParams({ filename: fileNameOf(asset), type: typeOf(asset.tags), res: String(PREVIEW_EDGE) });
  return `${baseUrl}/api/view?${query.toString()}`;
}

export function readMetadata(text: string): Record<string, unknown> {
  const value: unknown = JSON.parse(text);
  return typeof value === "object" && value !== null && !Array.isArray(value) ? { ...value } : {};
}
