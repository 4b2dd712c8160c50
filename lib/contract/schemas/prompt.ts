// POST /api/prompt: what is sent and what comes back. `number` and `front` are accepted and have no effect.

import { z } from "zod";
import { freeForm, maybe } from "./lenient";
import { nodeErrorsSchema } from "./node-errors";

export const promptBodySchema = z.looseObject({
  /** Judged node by node by the service, so that a refusal can name the node. */
  prompt: freeForm,
  extra_data: maybe(freeForm),
  partial_execution_targets: maybe(z.array(z.string()).max(5000)),
  number: maybe(z.number()),
  front: maybe(z.boolean()),
  client_id: maybe(z.string()),
});
export type PromptBody = z.infer<typeof promptBodySchema>;

export const promptAnswerSchema = z.looseObject({
  prompt_id: z.string(),
  number: maybe(z.number()),
  node_errors: nodeErrorsSchema.nullish().transform((errors) => errors ?? {}),
});
export type PromptAnswer = z.infer<typeof promptAnswerSchema>;

export const queueDepthSchema = z.looseObject({ exec_info: z.looseObject({ queue_remaining: z.number() }) });
