import { z } from "zod";
import { isObject } from "../json/json";
import { component, count, exactForeign, milliseconds, namedSchema, rare, reads } from "./exact";
import { entries, freeForm, loosely, maybe, moment, nodeIdText } from "./lenient";

export const executionErrorSchema = component("ExecutionError", {
  node_id: loosely(nodeIdText),
  node_type: loosely(z.string()),
  exception_message: z.string().catch(""),
  exception_type: z.string().catch(""),
  traceback: reads(
    z
      .union([
        z.array(z.unknown()).transform((lines) => lines.filter((line) => typeof line === "string")),
        z.string().transform((line) => [line]),
      ])
      .catch([]),
    z.array(z.string()),
  ),
  /** { input name: [formatted value, …] }. May be an empty list if nothing is known. */
  current_inputs: reads(loosely(z.union([freeForm, z.array(z.unknown())])), freeForm),
  /** An object on cloud services, a list of node ids on a local server. */
  current_outputs: reads(loosely(z.union([freeForm, z.array(z.unknown())])), freeForm),
});
export type ExecutionError = z.infer<typeof executionErrorSchema>;

/** [event name, { prompt_id, timestamp (ms), … }] */
const executionMessageSchema = z.tuple([z.string(), freeForm]).rest(z.unknown());

export const executionStatusSchema = component("ExecutionStatus", {
  status_str: reads(loosely(z.string()), z.enum(["success", "error"])),
  completed: loosely(z.boolean()),
  messages: entries(executionMessageSchema).catch([]),
});

const nodeMetaSchema = component("NodeMeta", {
  node_id: loosely(nodeIdText),
  display_node: loosely(nodeIdText),
  parent_node: reads(loosely(nodeIdText), z.string().nullable()),
  real_node_id: loosely(nodeIdText),
  start_time: reads(loosely(moment), milliseconds),
  end_time: reads(loosely(moment), milliseconds),
  cached: loosely(z.boolean()),
});
export const executionMetaSchema = z.record(z.string(), nodeMetaSchema.catch({}));

export const nodeErrorSchema = z.looseObject({
  type: z.string().catch("unknown"),
  message: z.string().catch(""),
  details: z.string().catch(""),
  extra_info: freeForm.catch({}),
});
export type NodeError = z.infer<typeof nodeErrorSchema>;

const nodeErrorEntrySchema = z.looseObject({
  class_type: maybe(z.string()),
  dependent_outputs: z.array(z.string()).catch([]),
  errors: z.array(nodeErrorSchema).catch([]),
});

export const nodeErrorsSchema = namedSchema("NodeErrors", z.record(z.string(), nodeErrorEntrySchema));
export type NodeErrors = z.infer<typeof nodeErrorsSchema>;

/** A node's output that is not an object is returned under the key `output`. */
const anyNodeOutputSchema = z.unknown().transform((output): Record<string, unknown> | undefined => {
  if (output === null || output === undefined) return undefined;
  return isObject(output) ? output : { output };
});
/** By node, then by key: file items under images, texts under text, and flags under animated. */
const exactOutputsSchema = z.record(z.string(), z.record(z.string(), z.array(z.unknown())));
export const outputsSchema = namedSchema("Outputs", reads(z.record(z.string(), anyNodeOutputSchema), exactOutputsSchema));
export type Outputs = z.infer<typeof outputsSchema>;

export const progressSchema = component("Progress", {
  value: reads(loosely(z.number()), z.number().min(0).max(1)),
  nodes_done: reads(loosely(z.number()), count),
  nodes_total: reads(loosely(z.number()), count),
  current_node: rare(loosely(nodeIdText)),
  step: rare(loosely(z.number())),
  steps: rare(loosely(z.number())),
  start_time: reads(loosely(moment), milliseconds),
  /** From live updates: the outputs so far, and the preview's version, which increases with each new image. */
  outputs: exactForeign(loosely(outputsSchema)),
  preview: exactForeign(loosely(z.number())),
});

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
