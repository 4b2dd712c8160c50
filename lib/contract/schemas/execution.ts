// What happened while a job ran: the structured error, the timeline, the nodes' facts, and progress where a service sends it.

import { z } from "zod";
import { freeForm, maybe, moment } from "./lenient";

export const executionErrorSchema = z.looseObject({
  node_id: maybe(z.string()),
  node_type: maybe(z.string()),
  exception_message: z
    .string()
    .nullish()
    .transform((message) => message ?? ""),
  exception_type: z
    .string()
    .nullish()
    .transform((type) => type ?? ""),
  traceback: z
    .union([z.array(z.string()), z.string().transform((line) => [line])])
    .nullish()
    .transform((lines) => lines ?? []),
  current_inputs: maybe(freeForm),
  /** An object on cloud services, a list of node ids on a local server. */
  current_outputs: maybe(z.union([freeForm, z.array(z.unknown())])),
});
export type ExecutionError = z.infer<typeof executionErrorSchema>;

/** [event name, { prompt_id, timestamp (ms), … }] */
export const executionMessageSchema = z.tuple([z.string(), freeForm]).rest(z.unknown());

export const executionStatusSchema = z.looseObject({
  status_str: maybe(z.string()),
  completed: maybe(z.boolean()),
  messages: z.array(executionMessageSchema).catch([]),
});
export type ExecutionStatus = z.infer<typeof executionStatusSchema>;

export const nodeMetaSchema = z.looseObject({
  node_id: maybe(z.string()),
  display_node: maybe(z.string()),
  parent_node: maybe(z.string()),
  real_node_id: maybe(z.string()),
  start_time: maybe(moment),
  end_time: maybe(moment),
  cached: maybe(z.boolean()),
});
export const executionMetaSchema = z.record(z.string(), nodeMetaSchema);
export type ExecutionMeta = z.infer<typeof executionMetaSchema>;

export const progressSchema = z.looseObject({
  /** 0 to 1 over the whole job. */
  value: maybe(z.number()),
  nodes_done: maybe(z.number()),
  nodes_total: maybe(z.number()),
  current_node: maybe(z.string()),
  step: maybe(z.number()),
  steps: maybe(z.number()),
});
export type Progress = z.infer<typeof progressSchema>;
