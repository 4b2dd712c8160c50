import { embedHostChangeSchema } from "@/lib/contract/embed/embedding";
import { consoleBodyRoute, consoleRoute } from "@/lib/server/bff/routes";
import { changeEmbedHost, removeEmbedHost } from "@/lib/server/embed/hosts";
import { getIdParam } from "@/lib/server/requests/read-request";
import { createEmptyResponse, createJsonResponse } from "@/lib/server/requests/responses";
import { ok } from "@/lib/shared/result";

export const PATCH = consoleBodyRoute(
  "changeEmbedHost",
  { role: "admin", needsRecentSignIn: true },
  embedHostChangeSchema,
  async (context, body) => {
    const result = await changeEmbedHost(context.composition, context.viewer, getIdParam(context), body);
    if (!result.ok) return result;
    context.annotateAudit({ target: result.value.host.name, outcome: result.value.host.origins.join(", ").slice(0, 500) });
    return ok(createJsonResponse(result.value));
  },
);

export const DELETE = consoleRoute("removeEmbedHost", { role: "admin", needsRecentSignIn: true }, async (context) => {
  const result = await removeEmbedHost(context.composition, getIdParam(context));
  if (!result.ok) return result;
  context.annotateAudit({ target: result.value });
  return ok(createEmptyResponse());
});
