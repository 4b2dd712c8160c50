import { z } from "zod";
import { isObject } from "../json/json";
import { component, count, lenientOnly, milliseconds, namedSchema, omittable, withExactSchema } from "./exact";
import { freeForm, lenientArray, lenientOptional, nodeIdText, nullish, timestamp } from "./lenient";

export const executionErrorSchema = component("ExecutionError", {
  node_id: lenientOptional(nodeIdText),
  node_type: lenientOptional(z.string()),
  exception_message: z.string().catch(""),
  exception_type: z.string().catch(""),
  traceback: withExactSchema(
    z
      .union([
        z.array(z.unknown()).transform((lines) => lines.filter((line) => typeof line === "string")),
        z.string().transform((line) => [line]),
      ])
      .catch([]),
    z.array(z.string()),
  ),
  /** { input name: [formatted value, …] }. May be an empty list if nothing is known. */
  current_inputs: withExactSchema(lenientOptional(z.union([freeForm, z.array(z.unknown())])), freeForm),
  /** An object on cloud services, a list of node ids on a local server. */
  current_outputs: withExactSchema(lenientOptional(z.union([freeForm, z.array(z.unknown())])), freeForm),
});
export type ExecutionError = z.infer<typeof executionErrorSchema>;

/** [event name, { prompt_id, timestamp (ms), … }] */
const executionMessageSchema = z.tuple([z.string(), freeForm]).rest(z.unknown());

export const executionStatusSchema = component("ExecutionStatus", {
  status_str: withExactSchema(lenientOptional(z.string()), z.enum(["success", "error"])),
  completed: lenientOptional(z.boolean()),
  messages: lenientArray(executionMessageSchema).catch([]),
});

const nodeMetaSchema = component("NodeMeta", {
  node_id: lenientOptional(nodeIdText),
  display_node: lenientOptional(nodeIdText),
  parent_node: withExactSchema(nodeIdText.nullish().catch(undefined), z.string().nullable()),
  real_node_id: lenientOptional(nodeIdText),
  start_time: withExactSchema(lenientOptional(timestamp), milliseconds),
  end_time: withExactSchema(lenientOptional(timestamp), milliseconds),
  cached: lenientOptional(z.boolean()),
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
  class_type: nullish(z.string()),
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
export const outputsSchema = namedSchema("Outputs", withExactSchema(z.record(z.string(), anyNodeOutputSchema), exactOutputsSchema));
export type Outputs = z.infer<typeof outputsSchema>;

export const progressSchema = component("Progress", {
  value: withExactSchema(lenientOptional(z.number()), z.number().min(0).max(1)),
  nodes_done: withExactSchema(lenientOptional(z.number()), count),
  nodes_total: withExactSchema(lenientOptional(z.number()), count),
  current_node: omittable(lenientOptional(nodeIdText)),
  step: omittable(lenientOptional(z.number())),
  steps: omittable(lenientOptional(z.number())),
  start_time: withExactSchema(lenientOptional(timestamp), milliseconds),
  /** From live updates: the outputs so far, and the preview's version, which increases with each new image. */
  outputs: lenientOnly(lenientOptional(outputsSchema)),
  preview: lenientOnly(lenientOptional(z.number())),
});

/** A file item with its node and kind, or a text preview (`content`, at most 1,024 characters). */
export const previewOutputSchema = component("PreviewOutput", {
  filename: omittable(lenientOptional(z.string())),
  subfolder: omittable(lenientOptional(z.string())),
  type: omittable(lenientOptional(z.string())),
  display_name: omittable(lenientOptional(z.string())),
  nodeId: lenientOptional(nodeIdText),
  mediaType: lenientOptional(z.string()),
  content: omittable(lenientOptional(z.string())),
  truncated: omittable(lenientOptional(z.boolean())),
});
export type PreviewOutput = z.infer<typeof previewOutputSchema>;
