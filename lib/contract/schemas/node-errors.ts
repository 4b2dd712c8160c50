// node_errors of POST /api/prompt: what is wrong with each node, by node id.
// Lenient: a deployment may leave out anything but the type of an error.

import { z } from "zod";
import { named } from "./exact";
import { freeForm, maybe } from "./lenient";

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

export const nodeErrorsSchema = named("NodeErrors", z.record(z.string(), nodeErrorEntrySchema));
export type NodeErrors = z.infer<typeof nodeErrorsSchema>;
