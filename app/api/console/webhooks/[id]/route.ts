import { webhookChangeSchema } from "@/lib/contract/webhooks";
import { consoleBodyRoute, consoleRoute } from "@/lib/server/bff/routes";
import { getIdParam } from "@/lib/server/requests/read-request";
import { emptyResponse, jsonResponse } from "@/lib/server/requests/responses";
import { changeWebhook, removeWebhook } from "@/lib/server/webhooks/settings";
import { ok } from "@/lib/shared/result";

export const PATCH = consoleBodyRoute("changeWebhook", { role: "admin", recent: true }, webhookChangeSchema, async (context, body) => {
  const result = await changeWebhook(context.composition, getIdParam(context), body);
  if (!result.ok) return result;
  const { name, connection, origin } = result.value.webhook;
  context.annotateAudit({ target: name, connectionId: connection, outcome: origin });
  return ok(jsonResponse(result.value));
});

export const DELETE = consoleRoute("removeWebhook", { role: "admin", recent: true }, async (context) => {
  const removed = await removeWebhook(context.composition, getIdParam(context));
  if (!removed.ok) return removed;
  context.annotateAudit({ target: removed.value.name, connectionId: removed.value.connectionId });
  return ok(emptyResponse());
});
