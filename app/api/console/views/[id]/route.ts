import { savedViewChangeSchema } from "@/lib/contract/console";
import { consoleBodyRoute, consoleRoute } from "@/lib/server/bff/routes";
import { changeSavedView, removeSavedView } from "@/lib/server/queries/saved-views";
import { idOf } from "@/lib/server/requests/read-request";
import { emptyAnswer, jsonAnswer } from "@/lib/server/requests/responses";
import { ok } from "@/lib/shared/result";

export const PUT = consoleBodyRoute("changeSavedView", "viewer", savedViewChangeSchema, async (asked, body) => {
  asked.annotateAudit({ target: idOf(asked) });
  const changed = await changeSavedView(asked, idOf(asked), body);
  return changed.ok ? ok(jsonAnswer({ view: changed.value })) : changed;
});

export const DELETE = consoleRoute("removeSavedView", "viewer", async (asked) => {
  const removed = await removeSavedView(asked, idOf(asked));
  asked.annotateAudit({ target: removed.ok ? removed.value.name : idOf(asked) });
  return removed.ok ? ok(emptyAnswer()) : removed;
});
