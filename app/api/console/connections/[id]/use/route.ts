import { consoleRoute } from "@/lib/server/bff/routes";
import { findVisible } from "@/lib/server/connections/access";
import { toConnectionView } from "@/lib/server/connections/views";
import { getIdParam } from "@/lib/server/requests/read-request";
import { jsonResponse } from "@/lib/server/requests/responses";
import { ok } from "@/lib/shared/result";

export const POST = consoleRoute("useConnection", "runner", async (context) => {
  const visibleResult = await findVisible(context, getIdParam(context));
  if (!visibleResult.ok) return visibleResult;
  await context.composition.store.members.setLastConnection(context.viewer.memberId, visibleResult.value.id);
  context.annotateAudit({ connectionId: visibleResult.value.id });
  return ok(jsonResponse({ connection: await toConnectionView(context.composition, visibleResult.value, true) }));
});
