// What the embedded service answers of assets, tags and tasks. Exact, where the contract's own schemas are lenient with everybody's services.

import { z } from "zod";

const moment = z.iso.datetime();
const hash = z.string().regex(/^blake3:[0-9a-f]{64}$/);
const count = z.int().min(0);
const metadata = z.record(z.string(), z.unknown());

const assetFields = z.object({
  id: z.guid(),
  name: z.string(),
  size: count,
  created_at: moment,
  updated_at: moment,
  asset_hash: hash,
  hash,
  mime_type: z.string(),
  tags: z.array(z.string()),
  user_metadata: metadata,
  preview_url: z.url().optional(),
  preview_id: z.guid().nullable(),
  prompt_id: z.guid().nullable(),
  job_id: z.guid().nullable(),
  last_access_time: moment,
  is_immutable: z.boolean(),
});
const Asset = assetFields;
const CreatedAsset = assetFields.extend({ created_new: z.boolean() });

const pagination = z.object({ offset: count, limit: count, total: count, has_more: z.boolean() });

export const assetAnswers = {
  Asset,
  CreatedAsset,
  AssetList: z.object({ assets: z.array(Asset), total: count, has_more: z.boolean() }),
  EditedAsset: assetFields
    .pick({ id: true, updated_at: true, name: true, asset_hash: true, hash: true, tags: true, mime_type: true, user_metadata: true })
    .extend({ preview_id: z.guid().nullable() }),
  TagChange: z.object({
    total_tags: z.array(z.string()),
    added: z.array(z.string()),
    removed: z.array(z.string()),
    already_present: z.array(z.string()),
    not_present: z.array(z.string()),
  }),
  TagList: z.object({ tags: z.array(z.object({ name: z.string(), count })), total: count, has_more: z.boolean() }),
  TagCounts: z.object({ tag_counts: z.record(z.string(), count) }),
  RemoteMetadata: z.object({
    content_length: z.int().min(-1),
    content_type: z.string().optional(),
    filename: z.string(),
    name: z.string(),
    tags: z.array(z.string()),
    validation: z.object({ is_valid: z.boolean(), errors: z.array(metadata), warnings: z.array(metadata) }),
  }),
  TaskStarted: z.object({ task_id: z.guid(), status: z.string(), message: z.string() }),
  Task: z.object({
    id: z.guid(),
    idempotency_key: z.string(),
    task_name: z.string(),
    payload: metadata,
    status: z.enum(["created", "running", "completed", "failed", "cancelled"]),
    create_time: moment,
    update_time: moment,
    started_at: moment.optional(),
    completed_at: moment.optional(),
    result: metadata.optional(),
    error_message: z.string().optional(),
    bytes_total: count.nullable(),
    bytes_downloaded: count,
    progress: z.number().min(0).max(1),
  }),
  JobAssets: z.object({
    job_id: z.guid(),
    assets: z.array(assetFields.extend({ filename: z.string(), node_id: z.string(), output_key: z.string(), output_index: count })),
    pagination,
  }),
  Pagination: pagination,
};
