import { embedHostChangeSchema } from "@/lib/contract/embed/embedding";
import { consoleBodyRoute, consoleRoute } from "@/lib/server/bff/routes";
import { changeEmbedHost, removeEmbedHost } from "@/lib/server/embed/hosts";
import { getIdParam } from "@/lib/server/requests/read-request";
import { emptyResponse, jsonResponse } from "@/lib/server/requests/responses";
import { ok } from "@/lib/shared/result";

export const PATCH = consoleBodyRoute("changeEmbedHost", { role: "admin", recent: true }, embedHostChangeSchema, async (context, body) => {
  const result = await changeEmbedHost(context.composition, context.viewer, getIdParam(context), body);
  if (!result.ok) return result;
  context.annotateAudit({ target: result.value.host.name, outcome: result.value.host.origins.join(", ").slice(0, 500) });
  return ok(jsonResponse(result.value));
});

export const DELETE = consoleRoute("removeEmbedHost", { role: "admin", recent: true }, async (context) => {
  const removed = await removeEmbedHost(context.composition, getIdParam(context));
  if (!removed.ok) return removed;
  context.annotateAudit({ target: removed.value });
  return ok(emptyResponse());
});
