// POST /api/prompt: what is sent and what comes back. `number` and `front` are accepted and have no effect.

import { z } from "zod";
import { readNodeErrors } from "../read-node-errors";
import { freeForm, loosely, maybe } from "./lenient";
import { type NodeErrors } from "./node-errors";

export const promptBodySchema = z
  .looseObject({
    /** Judged node by node by the service, so that a refusal can name the node. */
    prompt: freeForm,
    extra_data: maybe(freeForm),
    partial_execution_targets: maybe(z.array(z.string()).max(100_000)),
    number: z.unknown().optional(),
    front: z.unknown().optional(),
    client_id: maybe(z.string().max(200)),
  })
  // To pass them on would promise an effect.
  .transform(({ number: _number, front: _front, ...body }) => body);
export type PromptBody = z.infer<typeof promptBodySchema>;

export const promptAnswerSchema = z.looseObject({
  prompt_id: z.string(),
  number: loosely(z.number()),
  /** The job exists already: an odd entry must not make its answer unreadable. */
  node_errors: z
    .unknown()
    .optional()
    .transform((errors): NodeErrors => readNodeErrors(errors) ?? {}),
});

export const queueDepthSchema = z.looseObject({ exec_info: z.looseObject({ queue_remaining: z.number() }) });
