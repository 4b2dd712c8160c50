import { consoleRoute } from "@/lib/server/bff/routes";
import { getIdParam } from "@/lib/server/requests/read-request";
import { createJsonResponse } from "@/lib/server/requests/responses";
import { sendTest } from "@/lib/server/webhooks/settings";
import { ok } from "@/lib/shared/result";

export const POST = consoleRoute("testWebhook", { role: "admin", needsSession: true }, async (context) => {
  const result = await sendTest(context.composition, getIdParam(context));
  if (!result.ok) return result;
  const { webhook, delivery } = result.value;
  context.annotateAudit({ target: webhook.name, connectionId: webhook.connectionId });
  return ok(createJsonResponse({ delivery }));
});
