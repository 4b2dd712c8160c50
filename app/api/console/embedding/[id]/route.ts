import { embedHostChangeSchema } from "@/lib/contract/embed/embedding";
import { consoleBodyRoute, consoleRoute } from "@/lib/server/bff/routes";
import { changeEmbedHost, removeEmbedHost } from "@/lib/server/embed/hosts";
import { idOf } from "@/lib/server/requests/read-request";
import { emptyAnswer, jsonAnswer } from "@/lib/server/requests/responses";
import { ok } from "@/lib/shared/result";

export const PATCH = consoleBodyRoute("changeEmbedHost", { role: "admin", recent: true }, embedHostChangeSchema, async (context, body) => {
  const changed = await changeEmbedHost(context.composition, context.viewer, idOf(context), body);
  if (!changed.ok) return changed;
  context.annotateAudit({ target: changed.value.host.name, outcome: changed.value.host.origins.join(", ").slice(0, 500) });
  return ok(jsonAnswer(changed.value));
});

export const DELETE = consoleRoute("removeEmbedHost", { role: "admin", recent: true }, async (context) => {
  const removed = await removeEmbedHost(context.composition, idOf(context));
  if (!removed.ok) return removed;
  context.annotateAudit({ target: removed.value });
  return ok(emptyAnswer());
});
