import { z } from "zod";
import { writeExactJson } from "../json/exact-json";
import { component, count, exactFields, lenientOnly, namedSchema, omittable, withExactSchema } from "./exact";
import {
  anyCount,
  anyNumber,
  booleanText,
  createIntegerText,
  createListText,
  freeForm,
  lenientArray,
  lenientMap,
  lenientOptional,
  lenientStrings,
  nullish,
  objectText,
  timestamp,
  unreadableCount,
  withWireForm,
} from "./lenient";

const assetSortFields = ["name", "created_at", "updated_at", "size", "last_access_time"] as const;
const hashPattern = /^(blake3|sha256):[0-9a-f]{64}$/;
/** The maximum for any setting. A service's own limit is lower. */
const MAX_TAGS = 10_000;
const MAX_METADATA_BYTES = 64 * 1024;
/** For names, tags and media types in requests. Responses of services are not checked. */
const createLineSchema = (maxLength: number) =>
  z
    .string()
    .max(maxLength)
    .regex(/^\P{Cc}*$/u, "must not contain control characters")
    .regex(/^\P{Cs}*$/u, "must not contain unpaired surrogates");
const tagSchema = createLineSchema(200).min(1).regex(/\S/, "must not be blank");
const tagsSchema = z.array(tagSchema).max(MAX_TAGS);
const idTextSchema = z.guid().toLowerCase();
/** Limited, because each list item contains it. Large data belongs in a file. */
const metadataSchema = withWireForm(
  freeForm.refine(
    (metadata) => writeExactJson(metadata).length <= MAX_METADATA_BYTES,
    `must be at most ${MAX_METADATA_BYTES} characters of JSON`,
  ),
  { kind: "object" },
);

const exactHashSchema = z.string().regex(/^blake3:[0-9a-f]{64}$/);
export const assetFields = z.looseObject({
  id: withExactSchema(z.string(), z.guid()),
  name: z.string().catch(""),
  display_name: lenientOnly(lenientOptional(z.string())),
  size: lenientOptional(anyNumber),
  created_at: lenientOptional(timestamp),
  updated_at: lenientOptional(timestamp),
  created_new: lenientOnly(lenientOptional(z.boolean())),
  asset_hash: withExactSchema(lenientOptional(z.string()), exactHashSchema),
  hash: withExactSchema(lenientOptional(z.string()), exactHashSchema),
  mime_type: lenientOptional(z.string()),
  tags: lenientStrings,
  user_metadata: lenientOptional(freeForm),
  preview_url: withExactSchema(lenientOptional(z.string()), z.url().optional()),
  preview_id: withExactSchema(lenientOptional(z.string()), z.guid().nullable()),
  prompt_id: withExactSchema(lenientOptional(z.string()), z.guid().nullable()),
  job_id: withExactSchema(lenientOptional(z.string()), z.guid().nullable()),
  last_access_time: lenientOptional(timestamp),
  is_immutable: lenientOptional(z.boolean()),
  /** The location for GET /api/view. Added by the console for a local server, which has no content hashes. */
  file: lenientOnly(lenientOptional(z.object({ filename: z.string(), subfolder: z.string(), type: z.string() }))),
});

/** The hash and the job's id have two names each. Services send one of them, and clients of the console may read either. */
const readAssetSchema = assetFields.transform((asset) => {
  const hash = asset.asset_hash ?? asset.hash;
  const jobId = asset.prompt_id ?? asset.job_id;
  return { ...asset, asset_hash: hash, hash, prompt_id: jobId, job_id: jobId };
});
export const assetSchema = namedSchema("Asset", readAssetSchema);
export const createdAssetSchema = namedSchema(
  "CreatedAsset",
  withExactSchema(readAssetSchema, exactFields(assetFields).extend({ created_new: z.boolean() })),
);
export type Asset = z.infer<typeof assetSchema>;

export const assetsQuerySchema = z.object({
  include_tags: createListText(tagSchema).optional(),
  exclude_tags: createListText(tagSchema).optional(),
  name_contains: z.string().max(500).optional(),
  metadata_filter: objectText.optional(),
  limit: createIntegerText({ min: 1, max: 500 }).default(20),
  offset: createIntegerText({ min: 0 }).default(0),
  sort: z.enum(assetSortFields).default("created_at"),
  order: z.enum(["asc", "desc"]).default("desc"),
  include_public: booleanText.default(true),
});
export type AssetsQuery = z.infer<typeof assetsQuerySchema>;

export const assetsResponseSchema = component("AssetList", {
  assets: lenientArray(assetSchema),
  total: withExactSchema(lenientOptional(anyCount), count),
  has_more: lenientOptional(z.boolean()),
  unreadable: unreadableCount,
});
export type AssetsResponse = z.infer<typeof assetsResponseSchema>;

/** The text parts of a multipart upload. Values other than text are JSON. */
export const assetUploadFieldsSchema = z.object({
  tags: tagsSchema.default([]),
  id: idTextSchema.optional(),
  preview_id: idTextSchema.optional(),
  name: createLineSchema(500).min(1).optional(),
  mime_type: createLineSchema(200).optional(),
  user_metadata: metadataSchema.default({}),
});

export const fromHashBodySchema = z.looseObject({
  hash: z.string().regex(hashPattern, "must be blake3: or sha256: followed by 64 hexadecimal digits"),
  tags: tagsSchema.min(1),
  name: nullish(createLineSchema(500).min(1)),
  mime_type: nullish(createLineSchema(200)),
  user_metadata: nullish(metadataSchema),
});

export const downloadBodySchema = z.looseObject({
  source_url: z.url().max(4000),
  tags: nullish(tagsSchema),
  user_metadata: nullish(metadataSchema),
  preview_id: nullish(idTextSchema),
});

export const assetEditBodySchema = z
  .looseObject({
    name: nullish(createLineSchema(500).min(1)),
    tags: nullish(tagsSchema),
    mime_type: nullish(createLineSchema(200)),
    preview_id: idTextSchema.nullable().optional(),
    user_metadata: nullish(metadataSchema),
  })
  .refine((body) => [body.name, body.tags, body.mime_type, body.preview_id, body.user_metadata].some((value) => value !== undefined), {
    message: "must contain at least one of name, tags, mime_type, preview_id, user_metadata",
  });

export const assetEditResponseSchema = namedSchema(
  "EditedAsset",
  withExactSchema(
    z.looseObject({ id: z.string(), updated_at: lenientOptional(timestamp) }),
    exactFields(
      assetFields.pick({
        id: true,
        updated_at: true,
        name: true,
        asset_hash: true,
        hash: true,
        tags: true,
        mime_type: true,
        user_metadata: true,
        preview_id: true,
      }),
    ),
  ),
);

export const remoteMetadataSchema = component("RemoteMetadata", {
  content_length: withExactSchema(anyNumber, z.int().min(-1)),
  content_type: omittable(lenientOptional(z.string())),
  filename: lenientOptional(z.string()),
  name: lenientOptional(z.string()),
  tags: lenientOptional(z.array(z.string())),
  preview_image: lenientOnly(lenientOptional(z.string())),
  validation: lenientOptional(
    z.looseObject({ is_valid: z.boolean(), errors: z.array(freeForm).catch([]), warnings: z.array(freeForm).catch([]) }),
  ),
});

export const tagsBodySchema = z.looseObject({ tags: tagsSchema.min(1) });

export const tagChangeSchema = component("TagChange", {
  total_tags: lenientArray(z.string()),
  added: lenientStrings,
  removed: lenientStrings,
  already_present: lenientStrings,
  not_present: lenientStrings,
});

export const tagsQuerySchema = z.object({
  prefix: z.string().max(200).optional(),
  limit: createIntegerText({ min: 1, max: 1000 }).default(100),
  offset: createIntegerText({ min: 0 }).default(0),
  order: z.enum(["count_desc", "name_asc"]).default("count_desc"),
  include_zero: booleanText.default(false),
  include_public: booleanText.default(true),
});

export const tagsResponseSchema = component("TagList", {
  tags: lenientArray(z.looseObject({ name: z.string(), count: anyCount })),
  total: withExactSchema(lenientOptional(anyCount), count),
  has_more: lenientOptional(z.boolean()),
  unreadable: unreadableCount,
});

export const refineQuerySchema = assetsQuerySchema
  .pick({ include_tags: true, exclude_tags: true, name_contains: true, metadata_filter: true, include_public: true })
  .extend({ limit: createIntegerText({ min: 1, max: 1000 }).default(100) });
export const refineResponseSchema = component("TagCounts", { tag_counts: lenientMap(anyCount), unreadable: unreadableCount });

export const taskStartedSchema = component("TaskStarted", {
  task_id: withExactSchema(z.string(), z.guid()),
  status: z.string(),
  message: lenientOptional(z.string()),
});

export const taskSchema = component("Task", {
  id: withExactSchema(z.string(), z.guid()),
  idempotency_key: lenientOptional(z.string()),
  task_name: lenientOptional(z.string()),
  payload: lenientOptional(freeForm),
  status: withExactSchema(z.string(), z.enum(["created", "running", "completed", "failed", "cancelled"])),
  create_time: lenientOptional(timestamp),
  update_time: lenientOptional(timestamp),
  started_at: omittable(lenientOptional(timestamp)),
  completed_at: omittable(lenientOptional(timestamp)),
  result: omittable(lenientOptional(freeForm)),
  error_message: omittable(lenientOptional(z.string())),
  bytes_total: withExactSchema(lenientOptional(anyNumber), count.nullable()),
  bytes_downloaded: lenientOptional(anyNumber),
  progress: withExactSchema(lenientOptional(z.number()), z.number().min(0).max(1)),
});

export const tasksQuerySchema = z.object({
  task_name: z.string().max(200).optional(),
  idempotency_key: z.string().max(200).optional(),
  status: z.string().max(200).optional(),
  created_after: z.string().max(50).optional(),
  created_before: z.string().max(50).optional(),
  sort_order: z.enum(["asc", "desc"]).default("desc"),
  offset: createIntegerText({ min: 0 }).default(0),
  limit: createIntegerText({ min: 1, max: 100 }).default(20),
});
export const tasksResponseSchema = z.looseObject({
  tasks: lenientArray(taskSchema),
  pagination: lenientOptional(freeForm),
  unreadable: unreadableCount,
});
