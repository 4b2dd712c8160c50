import { consoleRoute } from "@/lib/server/bff/routes";
import { findVisible } from "@/lib/server/connections/access";
import { toConnectionView } from "@/lib/server/connections/views";
import { idOf } from "@/lib/server/requests/read-request";
import { jsonAnswer } from "@/lib/server/requests/responses";
import { ok } from "@/lib/shared/result";

export const POST = consoleRoute("useConnection", "runner", async (asked) => {
  const found = await findVisible(asked, idOf(asked));
  if (!found.ok) return found;
  await asked.composition.store.members.setLastConnection(asked.viewer.memberId, found.value.id);
  asked.annotateAudit({ connectionId: found.value.id });
  return ok(jsonAnswer({ connection: await toConnectionView(asked.composition, found.value, true) }));
});
