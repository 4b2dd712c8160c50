import { consoleRoute } from "@/lib/server/bff/routes";
import { idOf } from "@/lib/server/requests/read-request";
import { jsonAnswer } from "@/lib/server/requests/responses";
import { sendAgain } from "@/lib/server/webhooks/settings";
import { ok } from "@/lib/shared/result";

export const POST = consoleRoute("resendWebhook", { role: "admin", session: true }, async (context) => {
  const { delivery: deliveryId } = context.params;
  const result = await sendAgain(context.composition, idOf(context), typeof deliveryId === "string" ? deliveryId : "");
  if (!result.ok) return result;
  const { webhook, delivery } = result.value;
  context.annotateAudit({ target: webhook.name, connectionId: webhook.connectionId, outcome: delivery.eventId });
  return ok(jsonAnswer({ delivery }));
});
