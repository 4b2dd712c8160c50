// What happened while a job ran: the structured error, the timeline, facts about nodes, and progress if a service sends it.

import { z } from "zod";
import { component, count, milliseconds, rare, reads } from "./exact";
import { entries, freeForm, loosely, moment, nodeIdText } from "./lenient";

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
  /** { input name: [formatted value, …] }; may be an empty list if nothing is known. */
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

export const progressSchema = component("Progress", {
  /** 0 to 1 over the whole job. */
  value: reads(loosely(z.number()), z.number().min(0).max(1)),
  nodes_done: reads(loosely(z.number()), count),
  nodes_total: reads(loosely(z.number()), count),
  current_node: rare(loosely(nodeIdText)),
  step: rare(loosely(z.number())),
  steps: rare(loosely(z.number())),
  /** From the embedded service: since when the job runs. */
  start_time: reads(loosely(moment), milliseconds),
});
