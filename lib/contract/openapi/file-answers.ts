// What the embedded service answers of uploads, user data and itself, and its refusals.

import { z } from "zod";

const count = z.int().min(0);
const uploaded = z.object({ name: z.string(), display_name: z.string(), subfolder: z.string(), type: z.string() });
const specs = z.record(z.string(), z.array(z.unknown()));
const names = z.array(z.string());

export const fileAnswers = {
  UploadedImage: uploaded,
  UploadedMask: uploaded.extend({
    metadata: z.object({
      is_mask: z.boolean(),
      original_hash: z.string(),
      mask_type: z.string(),
      related_files: z.object({ mask: z.string(), paint: z.string(), painted: z.string() }),
    }),
  }),
  MaskLayers: z.object({ mask: z.string(), paint: z.string(), painted: z.string(), painted_masked: z.string() }),
  UserFiles: z.array(z.object({ path: z.string(), size: count, modified: z.number() })),
  /** The path alone where full_info is false. */
  WrittenFile: z.union([z.string(), z.object({ path: z.string(), size: count, modified: z.iso.datetime() })]),
  User: z.object({
    status: z.enum(["active", "waitlisted"]),
    id: z.string(),
    storage: z.object({ used_bytes: count, quota_bytes: count }).optional(),
  }),
  Features: z.object({ supports_preview_metadata: z.boolean(), max_upload_size: count }),
  SystemStats: z.object({
    system: z.object({
      os: z.string(),
      ram_total: count,
      ram_free: count,
      comfyui_version: z.string(),
      python_version: z.string(),
      embedded_python: z.boolean(),
      argv: z.array(z.string()),
    }),
    devices: z.array(
      z.object({
        name: z.string(),
        type: z.string(),
        index: count,
        vram_total: count,
        vram_free: count,
        torch_vram_total: count,
        torch_vram_free: count,
      }),
    ),
  }),
  /** Nodes describe themselves further; these are the fields that each has. */
  NodeLibrary: z.record(
    z.string(),
    z.looseObject({
      input: z.object({ required: specs, optional: specs.optional(), hidden: z.record(z.string(), z.unknown()).optional() }),
      input_order: z.object({ required: names, optional: names.optional(), hidden: names.optional() }),
      is_input_list: z.boolean(),
      output: names,
      output_is_list: z.array(z.boolean()),
      output_name: names,
      name: z.string(),
      display_name: z.string(),
      description: z.string(),
      category: z.string(),
      output_node: z.boolean(),
      deprecated: z.boolean().optional(),
    }),
  ),
  Refusal: z.object({ code: z.string(), message: z.string(), details: z.unknown().optional() }),
};
