// Submitting a graph, and how deep the queue is.

import { operations } from "@/lib/contract/operations";
import { promptBodySchema } from "@/lib/contract/schemas/prompt";
import { countJobs } from "../jobs/list-jobs";
import { submitPrompt } from "../jobs/submit";
import { type Parts } from "../parts";
import { asRefusal, ServiceError } from "../service-error";
import { json } from "./answers";
import { readJson } from "./read-json";
import { route, type Route } from "./route";

export function promptRoutes(parts: Parts): Route[] {
  return [
    route(operations.submitPrompt, async ({ request, user }) => {
      if (user.status === "waitlisted")
        throw new ServiceError(
          "FORBIDDEN",
          "This account is on the waiting list: it may read everything of its own and submit nothing yet.",
        );
      const body = await readBody(request);
      if (body instanceof Response) return body;
      const outcome = await submitPrompt(parts, user.id, body);
      if (!outcome.ok) return json({ error: outcome.error, node_errors: outcome.nodeErrors }, 400);
      parts.engine.submitted(user.id, outcome.seq);
      return json({ prompt_id: outcome.id, number: outcome.number, node_errors: outcome.nodeErrors });
    }),

    route(operations.getQueueDepth, ({ user }) =>
      json({ exec_info: { queue_remaining: countJobs(parts.database, user.id, ["pending", "in_progress"]) } }),
    ),
  ];
}

/** This operation refuses in its own shape, whatever is wrong with the body. */
async function readBody(request: Request) {
  try {
    return await readJson(request, promptBodySchema);
  } catch (error) {
    const refusal = asRefusal(error);
    if (refusal?.code !== "INVALID_BODY" && refusal?.code !== "INVALID_JSON") throw error;
    const isMissing = refusal.code === "INVALID_BODY" && refusal.message.startsWith("prompt: ");
    const type = isMissing ? "no_prompt" : "invalid_prompt";
    const message = isMissing ? "No prompt provided" : refusal.message;
    return json({ error: { type, message, details: isMissing ? "No prompt provided" : "", extra_info: {} }, node_errors: {} }, 400);
  }
}
