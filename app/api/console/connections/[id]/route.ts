import { connectionChangeSchema } from "@/lib/contract/console";
import { consoleBodyRoute, consoleRoute } from "@/lib/server/bff/routes";
import { changeConnection, removeConnection } from "@/lib/server/connections/change";
import { idOf } from "@/lib/server/requests/read-request";
import { emptyAnswer, jsonAnswer } from "@/lib/server/requests/responses";
import { ok } from "@/lib/shared/result";

export const PUT = consoleBodyRoute("changeConnection", { role: "operator", recent: true }, connectionChangeSchema, async (asked, body) => {
  const id = idOf(asked);
  asked.annotateAudit({ connectionId: id });
  const saved = await changeConnection(asked, id, body);
  if (!saved.ok) return saved;
  const { connection, check } = saved.value;
  asked.annotateAudit({ outcome: connection ? check.outcome : `${check.outcome}, not saved` });
  return ok(jsonAnswer(saved.value));
});

export const DELETE = consoleRoute("removeConnection", { role: "operator", recent: true }, async (asked) => {
  const id = idOf(asked);
  asked.annotateAudit({ connectionId: id });
  const removed = await removeConnection(asked, id);
  return removed.ok ? ok(emptyAnswer()) : removed;
});
