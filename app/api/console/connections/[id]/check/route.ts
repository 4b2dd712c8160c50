import { consoleRoute } from "@/lib/server/bff/routes";
import { findConnection } from "@/lib/server/connections/access";
import { checkConnection } from "@/lib/server/connections/manage-connections";
import { getIdParam } from "@/lib/server/requests/read-request";
import { createJsonResponse } from "@/lib/server/requests/responses";
import { ok } from "@/lib/shared/result";

export const POST = consoleRoute("checkConnection", "viewer", async (context) => {
  const connectionResult = await findConnection(context, getIdParam(context));
  if (!connectionResult.ok) return connectionResult;
  const check = await checkConnection(context.composition, connectionResult.value, context.request.signal);
  context.annotateAudit({ connectionId: connectionResult.value.id, outcome: check.outcome });
  return ok(createJsonResponse({ check }));
});
