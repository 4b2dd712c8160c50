import { consoleRoute } from "@/lib/server/bff/routes";
import { findConnection } from "@/lib/server/connections/access";
import { checkConnection } from "@/lib/server/connections/change";
import { idOf } from "@/lib/server/requests/read-request";
import { jsonAnswer } from "@/lib/server/requests/responses";
import { ok } from "@/lib/shared/result";

export const POST = consoleRoute("checkConnection", "viewer", async (asked) => {
  const found = await findConnection(asked, idOf(asked));
  if (!found.ok) return found;
  const check = await checkConnection(asked.composition, found.value, asked.request.signal);
  asked.annotateAudit({ connectionId: found.value.id, outcome: check.outcome });
  return ok(jsonAnswer({ check }));
});
