// What happened while a job ran: the structured error, the timeline, the nodes' facts, and progress where a service sends it.

import { z } from "zod";
import { freeForm, loosely, moment, nodeIdText } from "./lenient";

export const executionErrorSchema = z.looseObject({
  node_id: loosely(nodeIdText),
  node_type: loosely(z.string()),
  exception_message: z.string().catch(""),
  exception_type: z.string().catch(""),
  traceback: z
    .union([
      z.array(z.unknown()).transform((lines) => lines.filter((line) => typeof line === "string")),
      z.string().transform((line) => [line]),
    ])
    .catch([]),
  /** { input name: [formatted value, …] }; may be an empty list where nothing is known. */
  current_inputs: loosely(z.union([freeForm, z.array(z.unknown())])),
  /** An object on cloud services, a list of node ids on a local server. */
  current_outputs: loosely(z.union([freeForm, z.array(z.unknown())])),
});
export type ExecutionError = z.infer<typeof executionErrorSchema>;

/** [event name, { prompt_id, timestamp (ms), … }] */
const executionMessageSchema = z.tuple([z.string(), freeForm]).rest(z.unknown());

export const executionStatusSchema = z.looseObject({
  status_str: loosely(z.string()),
  completed: loosely(z.boolean()),
  messages: z
    .array(executionMessageSchema.nullable().catch(null))
    .transform((messages) => messages.filter((message) => message !== null))
    .catch([]),
});

const nodeMetaSchema = z.looseObject({
  node_id: loosely(nodeIdText),
  display_node: loosely(nodeIdText),
  parent_node: loosely(nodeIdText),
  real_node_id: loosely(nodeIdText),
  start_time: loosely(moment),
  end_time: loosely(moment),
  cached: loosely(z.boolean()),
});
export const executionMetaSchema = z.record(z.string(), nodeMetaSchema.catch({}));

export const progressSchema = z.looseObject({
  /** 0 to 1 over the whole job. */
  value: loosely(z.number()),
  nodes_done: loosely(z.number()),
  nodes_total: loosely(z.number()),
  current_node: loosely(nodeIdText),
  step: loosely(z.number()),
  steps: loosely(z.number()),
  /** Our own service's: since when the job runs. */
  start_time: loosely(moment),
});
