import { consoleRoute } from "@/lib/server/bff/routes";
import { getIdParam } from "@/lib/server/requests/read-request";
import { createJsonResponse } from "@/lib/server/requests/responses";
import { resendDelivery } from "@/lib/server/webhooks/settings";
import { ok } from "@/lib/shared/result";

export const POST = consoleRoute("resendWebhook", { role: "admin", needsSession: true }, async (context) => {
  const { delivery: deliveryId } = context.params;
  const result = await resendDelivery(context.composition, getIdParam(context), typeof deliveryId === "string" ? deliveryId : "");
  if (!result.ok) return result;
  const { webhook, delivery } = result.value;
  context.annotateAudit({ target: webhook.name, connectionId: webhook.connectionId, outcome: delivery.eventId });
  return ok(createJsonResponse({ delivery }));
});
