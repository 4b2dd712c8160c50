// POST /api/prompt: the body and the answer. `number` and `front` are accepted and have no effect.

import { z } from "zod";
import { readNodeErrors } from "../read-node-errors";
import { component, count, exactOf, named, reads } from "./exact";
import { freeForm, loosely, maybe } from "./lenient";
import { type NodeErrors, nodeErrorSchema, nodeErrorsSchema } from "./node-errors";

export const promptBodySchema = z
  .looseObject({
    /** The service judges it node by node, so that a refusal can name the node. */
    prompt: freeForm,
    extra_data: maybe(freeForm),
    partial_execution_targets: maybe(z.array(z.string()).max(100_000)),
    number: z.unknown().optional(),
    front: z.unknown().optional(),
    client_id: maybe(z.string().max(200)),
  })
  // Passing them on would promise an effect.
  .transform(({ number: _number, front: _front, ...body }) => body);
export type PromptBody = z.infer<typeof promptBodySchema>;

export const promptAnswerSchema = component("PromptAccepted", {
  prompt_id: reads(z.string(), z.guid()),
  number: reads(loosely(z.number()), z.int()),
  /** The job exists already, so an odd entry must not make the answer unreadable. */
  node_errors: reads(
    z
      .unknown()
      .optional()
      .transform((errors): NodeErrors => readNodeErrors(errors) ?? {}),
    exactOf(nodeErrorsSchema),
  ),
});
export const promptRefusalSchema = named("PromptRefusal", z.object({ error: nodeErrorSchema, node_errors: nodeErrorsSchema }));

export const queueDepthSchema = component("QueueDepth", { exec_info: z.looseObject({ queue_remaining: reads(z.number(), count) }) });
