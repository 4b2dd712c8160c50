import { consoleRoute } from "@/lib/server/bff/routes";
import { findVisibleConnection } from "@/lib/server/connections/access";
import { toConnectionView } from "@/lib/server/connections/connection-views";
import { getIdParam } from "@/lib/server/requests/read-request";
import { createJsonResponse } from "@/lib/server/requests/responses";
import { ok } from "@/lib/shared/result";

export const POST = consoleRoute("useConnection", "runner", async (context) => {
  const connectionResult = await findVisibleConnection(context, getIdParam(context));
  if (!connectionResult.ok) return connectionResult;
  await context.composition.store.members.setLastConnection(context.viewer.memberId, connectionResult.value.id);
  context.annotateAudit({ connectionId: connectionResult.value.id });
  return ok(createJsonResponse({ connection: await toConnectionView(context.composition, connectionResult.value, true) }));
});
