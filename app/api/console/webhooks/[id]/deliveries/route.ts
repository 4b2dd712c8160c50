import { consoleRoute } from "@/lib/server/bff/routes";
import { idOf } from "@/lib/server/requests/read-request";
import { jsonOf } from "@/lib/server/requests/responses";
import { listDeliveries } from "@/lib/server/webhooks/settings";

export const GET = consoleRoute("listWebhookDeliveries", { role: "admin", session: true }, async (context) => {
  return jsonOf(await listDeliveries(context.composition, idOf(context)), (value) => ({ deliveries: value }));
});
