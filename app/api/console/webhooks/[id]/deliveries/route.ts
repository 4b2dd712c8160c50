import { consoleRoute } from "@/lib/server/bff/routes";
import { getIdParam } from "@/lib/server/requests/read-request";
import { toJsonResponse } from "@/lib/server/requests/responses";
import { listDeliveries } from "@/lib/server/webhooks/settings";

export const GET = consoleRoute("listWebhookDeliveries", { role: "admin", needsSession: true }, async (context) => {
  return toJsonResponse(await listDeliveries(context.composition, getIdParam(context)), (value) => ({ deliveries: value }));
});
