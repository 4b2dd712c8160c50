// Submitting a graph, and how deep the queue is.

import { errorStatus } from "@/lib/contract/failure";
import { operations } from "@/lib/contract/operations";
import { type PromptBody } from "@/lib/contract/schemas/queue";
import { noteSubmitted } from "../figures";
import { countJobs } from "../jobs/list-jobs";
import { submitPrompt } from "../jobs/submit";
import { type Parts } from "../parts";
import { asRefusal, ServiceError } from "../service-error";
import { type ServiceSettings } from "../settings";
import { json } from "./answers";
import { type Route, route } from "./route";

export function promptRoutes(parts: Parts): Route[] {
  return [
    route(operations.submitPrompt, async ({ body: read, user }) => {
      if (user.status === "waitlisted")
        throw new ServiceError(
          "FORBIDDEN",
          "This account is on the waiting list: it may read everything of its own and submit nothing yet.",
        );
      const body = await readBody(read, parts.settings);
      if (body instanceof Response) return body;
      const outcome = await submitPrompt(parts, user.id, body);
      if (!outcome.ok) return json({ error: outcome.error, node_errors: outcome.nodeErrors }, 400);
      noteSubmitted(outcome.id);
      parts.engine.submitted(user.id, outcome.seq, outcome.needs);
      parts.events.queueChanged(user.id);
      return json({ prompt_id: outcome.id, number: outcome.number, node_errors: outcome.nodeErrors });
    }),

    route(operations.getQueueDepth, async ({ user }) =>
      json({ exec_info: { queue_remaining: await countJobs(parts.database, user.id, ["pending", "in_progress"]) } }),
    ),
  ];
}

/** This operation refuses in a form of its own, whatever is wrong with the body. */
async function readBody(read: () => Promise<PromptBody>, settings: ServiceSettings): Promise<PromptBody | Response> {
  try {
    const body = await read();
    const nodes = Object.keys(body.prompt).length;
    if (nodes <= settings.maxGraphNodes) return body;
    const message = `A graph may have ${settings.maxGraphNodes} nodes; this one has ${nodes}.`;
    return refuse(400, "invalid_prompt", message, "", { max_graph_nodes: settings.maxGraphNodes, nodes });
  } catch (error) {
    const refusal = asRefusal(error);
    if (!refusal) throw error;
    const { code, message } = refusal;
    if (code === "INVALID_BODY" && message.startsWith("prompt: "))
      return refuse(400, "no_prompt", "No prompt provided", "No prompt provided");
    return refuse(errorStatus[code], code === "REQUEST_TIMEOUT" ? "request_timeout" : "invalid_prompt", message);
  }
}

function refuse(status: number, type: string, message: string, details = "", extra_info: object = {}): Response {
  return json({ error: { type, message, details, extra_info }, node_errors: {} }, status);
}
