import { embedHostChangeSchema } from "@/lib/contract/embed/embedding";
import { consoleBodyRoute, consoleRoute } from "@/lib/server/bff/routes";
import { changeEmbedHost, removeEmbedHost } from "@/lib/server/embed/hosts";
import { idOf } from "@/lib/server/requests/read-request";
import { emptyAnswer, jsonAnswer } from "@/lib/server/requests/responses";
import { ok } from "@/lib/shared/result";

export const PATCH = consoleBodyRoute("changeEmbedHost", { role: "admin", recent: true }, embedHostChangeSchema, async (asked, body) => {
  const changed = await changeEmbedHost(asked.composition, asked.viewer, idOf(asked), body);
  if (!changed.ok) return changed;
  asked.annotateAudit({ target: changed.value.host.name, outcome: changed.value.host.origins.join(", ").slice(0, 500) });
  return ok(jsonAnswer(changed.value));
});

export const DELETE = consoleRoute("removeEmbedHost", { role: "admin", recent: true }, async (asked) => {
  const removed = await removeEmbedHost(asked.composition, idOf(asked));
  if (!removed.ok) return removed;
  asked.annotateAudit({ target: removed.value });
  return ok(emptyAnswer());
});
