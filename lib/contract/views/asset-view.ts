// An asset as the console shows it. Fields that a service does not send are absent. Doesn't import zod, to keep it out of the first page's
// scripts.

import { asNumber, asText, isObject } from "../json/json";
import { type Asset } from "../schemas/asset";
import { toMilliseconds } from "../times";
import { type FileKind, getMediaKind, type OutputFile } from "./outputs-view";

export type AssetView = {
  id: string;
  name: string;
  kind: FileKind;
  tags: string[];
  immutable: boolean;
  metadata: Record<string, unknown>;
  sizeBytes?: number;
  mimeType?: string;
  createdAtMs?: number;
  updatedAtMs?: number;
  lastUsedAtMs?: number;
  hash?: string;
  file?: OutputFile;
  previewUrl?: string;
  previewId?: string;
  jobId?: string;
  width?: number;
  height?: number;
};

export function toAssetView(asset: Asset): AssetView {
  const metadata = isObject(asset.user_metadata) ? asset.user_metadata : {};
  const mimeType = asText(asset.mime_type);
  return {
    id: asset.id,
    name: asText(asset.name) ?? asText(asset.display_name) ?? asset.id,
    kind: getMediaKind({ names: [asset.name], types: [mimeType] }),
    tags: asset.tags,
    immutable: asset.is_immutable === true,
    metadata,
    sizeBytes: asNumber(asset.size),
    mimeType,
    createdAtMs: toMilliseconds(asset.created_at),
    updatedAtMs: toMilliseconds(asset.updated_at),
    lastUsedAtMs: toMilliseconds(asset.last_access_time),
    hash: asText(asset.asset_hash),
    file: asset.file ?? undefined,
    previewUrl: asText(asset.preview_url),
    previewId: asText(asset.preview_id),
    jobId: asText(asset.prompt_id),
    width: asNumber(metadata.width),
    height: asNumber(metadata.height),
  };
}

/** The query for GET /api/view: the file's location if known, or its hash, or its name. */
export function getAssetFile({ file, hash, name, tags }: Pick<AssetView, "file" | "hash" | "name" | "tags">): Partial<OutputFile> & {
  filename: string;
} {
  return file ?? { filename: hash ?? name, type: ["output", "temp", "input"].find((type) => tags.includes(type)) };
}

export type AssetDetail = AssetView & {
  createdNew?: boolean;
  isMutabilityReported?: boolean;
  others: Record<string, unknown>;
};

const knownFields = new Set([
  ...["id", "name", "size", "created_at", "updated_at", "created_new", "asset_hash", "hash", "mime_type", "tags"],
  ...["user_metadata", "preview_url", "preview_id", "prompt_id", "job_id", "last_access_time", "is_immutable", "file"],
]);

export function toAssetDetail(asset: Asset): AssetDetail {
  const unknownFields = Object.entries(asset).filter(([name, value]) => !knownFields.has(name) && value !== undefined && value !== null);
  return {
    ...toAssetView(asset),
    ...(typeof asset.created_new === "boolean" && { createdNew: asset.created_new }),
    ...(typeof asset.is_immutable === "boolean" && { isMutabilityReported: true }),
    others: Object.fromEntries(unknownFields),
  };
}
