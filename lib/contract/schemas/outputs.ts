// Outputs of a job, by node id and key. Items may be file items, texts, flags, null or anything a custom node sends.

import { z } from "zod";
import { isObject } from "../json/json";
import { component, named, rare, reads } from "./exact";
import { loosely, nodeIdText } from "./lenient";

/** A node's output that is not an object is kept under the key `output`, so that it is shown as it is. */
const anyNodeOutput = z.unknown().transform((output): Record<string, unknown> | undefined => {
  if (output === null || output === undefined) return undefined;
  return isObject(output) ? output : { output };
});
/** The exact form: by node, then by key; file items under images, texts under text, flags under animated. */
const exactOutputs = z.record(z.string(), z.record(z.string(), z.array(z.unknown())));
export const outputsSchema = named("Outputs", reads(z.record(z.string(), anyNodeOutput), exactOutputs));
export type Outputs = z.infer<typeof outputsSchema>;

/** A file item with its node and kind, or a text preview (`content`, at most 1,024 characters). */
export const previewOutputSchema = component("PreviewOutput", {
  filename: rare(loosely(z.string())),
  subfolder: rare(loosely(z.string())),
  type: rare(loosely(z.string())),
  display_name: rare(loosely(z.string())),
  nodeId: loosely(nodeIdText),
  mediaType: loosely(z.string()),
  content: rare(loosely(z.string())),
  truncated: rare(loosely(z.boolean())),
});
export type PreviewOutput = z.infer<typeof previewOutputSchema>;
