import { savedViewChangeSchema } from "@/lib/contract/console";
import { consoleBodyRoute, consoleRoute } from "@/lib/server/bff/routes";
import { changeSavedView, removeSavedView } from "@/lib/server/queries/saved-views";
import { idOf } from "@/lib/server/requests/read-request";
import { emptyOf, jsonOf } from "@/lib/server/requests/responses";

export const PUT = consoleBodyRoute("changeSavedView", "viewer", savedViewChangeSchema, async (context, body) => {
  context.annotateAudit({ target: idOf(context) });
  return jsonOf(await changeSavedView(context, idOf(context), body), (value) => ({ view: value }));
});

export const DELETE = consoleRoute("removeSavedView", "viewer", async (context) => {
  const removed = await removeSavedView(context, idOf(context));
  context.annotateAudit({ target: removed.ok ? removed.value.name : idOf(context) });
  return emptyOf(removed);
});
