// Outputs of a job, by node id and key. Items may be file items, texts, flags, null or anything a custom node sends.

import { z } from "zod";
import { maybe } from "./lenient";

export const fileItemSchema = z.looseObject({
  filename: z.string(),
  subfolder: z
    .string()
    .nullish()
    .transform((folder) => folder ?? ""),
  type: z
    .string()
    .nullish()
    .transform((type) => type ?? "output"),
  display_name: maybe(z.string()),
  format: maybe(z.string()),
  frame_rate: maybe(z.number()),
  mediaType: maybe(z.string()),
});
export type FileItem = z.infer<typeof fileItemSchema>;

export const nodeOutputSchema = z.record(z.string(), z.unknown());
export const outputsSchema = z.record(z.string(), nodeOutputSchema.nullish());
export type Outputs = z.infer<typeof outputsSchema>;

/** A file item with its node and kind, or a text preview (`content`, at most 1,024 characters). */
export const previewOutputSchema = z.looseObject({
  filename: maybe(z.string()),
  subfolder: maybe(z.string()),
  type: maybe(z.string()),
  display_name: maybe(z.string()),
  nodeId: maybe(z.string()),
  mediaType: maybe(z.string()),
  content: maybe(z.string()),
  truncated: maybe(z.boolean()),
});
export type PreviewOutput = z.infer<typeof previewOutputSchema>;
