import { savedViewChangeSchema } from "@/lib/contract/console";
import { consoleBodyRoute, consoleRoute } from "@/lib/server/bff/routes";
import { changeSavedView, removeSavedView } from "@/lib/server/queries/saved-views";
import { getIdParam } from "@/lib/server/requests/read-request";
import { toEmptyResponse, toJsonResponse } from "@/lib/server/requests/responses";

export const PUT = consoleBodyRoute("changeSavedView", "viewer", savedViewChangeSchema, async (context, body) => {
  context.annotateAudit({ target: getIdParam(context) });
  return toJsonResponse(await changeSavedView(context, getIdParam(context), body), (value) => ({ view: value }));
});

export const DELETE = consoleRoute("removeSavedView", "viewer", async (context) => {
  const result = await removeSavedView(context, getIdParam(context));
  context.annotateAudit({ target: result.ok ? result.value.name : getIdParam(context) });
  return toEmptyResponse(result);
});
