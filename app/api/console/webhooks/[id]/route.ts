import { webhookChangeSchema } from "@/lib/contract/webhooks";
import { consoleBodyRoute, consoleRoute } from "@/lib/server/bff/routes";
import { getIdParam } from "@/lib/server/requests/read-request";
import { createEmptyResponse, createJsonResponse } from "@/lib/server/requests/responses";
import { changeWebhook, removeWebhook } from "@/lib/server/webhooks/settings";
import { ok } from "@/lib/shared/result";

export const PATCH = consoleBodyRoute(
  "changeWebhook",
  { role: "admin", needsRecentSignIn: true },
  webhookChangeSchema,
  async (context, body) => {
    const result = await changeWebhook(context.composition, getIdParam(context), body);
    if (!result.ok) return result;
    const { name, connection, origin } = result.value.webhook;
    context.annotateAudit({ target: name, connectionId: connection, outcome: origin });
    return ok(createJsonResponse(result.value));
  },
);

export const DELETE = consoleRoute("removeWebhook", { role: "admin", needsRecentSignIn: true }, async (context) => {
  const result = await removeWebhook(context.composition, getIdParam(context));
  if (!result.ok) return result;
  context.annotateAudit({ target: result.value.name, connectionId: result.value.connectionId });
  return ok(createEmptyResponse());
});
