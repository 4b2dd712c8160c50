import { connectionChangeSchema } from "@/lib/contract/console";
import { consoleBodyRoute, consoleRoute } from "@/lib/server/bff/routes";
import { changeConnection, removeConnection } from "@/lib/server/connections/manage-connections";
import { getIdParam } from "@/lib/server/requests/read-request";
import { createJsonResponse, toEmptyResponse } from "@/lib/server/requests/responses";
import { ok } from "@/lib/shared/result";

export const PUT = consoleBodyRoute(
  "changeConnection",
  { role: "operator", needsRecentSignIn: true },
  connectionChangeSchema,
  async (context, body) => {
    const id = getIdParam(context);
    context.annotateAudit({ connectionId: id });
    const result = await changeConnection(context, id, body);
    if (!result.ok) return result;
    const { connection, check } = result.value;
    context.annotateAudit({ outcome: connection ? check.outcome : `${check.outcome}, not saved` });
    return ok(createJsonResponse(result.value));
  },
);

export const DELETE = consoleRoute("removeConnection", { role: "operator", needsRecentSignIn: true }, async (context) => {
  const id = getIdParam(context);
  context.annotateAudit({ connectionId: id });
  return toEmptyResponse(await removeConnection(context, id));
});
