// Outputs of a job, by node id and key. Items may be file items, texts, flags, null or anything a custom node sends.

import { z } from "zod";
import { isObject } from "../json/json";
import { loosely, nodeIdText } from "./lenient";

/** A node's output that is no object is kept under one key, so that it is shown as what it is. */
const anyNodeOutput = z.unknown().transform((output): Record<string, unknown> | undefined => {
  if (output === null || output === undefined) return undefined;
  return isObject(output) ? output : { output };
});
export const outputsSchema = z.record(z.string(), anyNodeOutput);
export type Outputs = z.infer<typeof outputsSchema>;

/** A file item with its node and kind, or a text preview (`content`, at most 1,024 characters). */
export const previewOutputSchema = z.looseObject({
  filename: loosely(z.string()),
  subfolder: loosely(z.string()),
  type: loosely(z.string()),
  display_name: loosely(z.string()),
  nodeId: loosely(nodeIdText),
  mediaType: loosely(z.string()),
  content: loosely(z.string()),
  truncated: loosely(z.boolean()),
});
export type PreviewOutput = z.infer<typeof previewOutputSchema>;
