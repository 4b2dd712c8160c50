import { savedViewBodySchema, savedViewsQuerySchema } from "@/lib/contract/console";
import { consoleBodyRoute, consoleRoute } from "@/lib/server/bff/routes";
import { createSavedView, listSavedViews } from "@/lib/server/queries/saved-views";
import { getSearchParams, readQuery } from "@/lib/server/requests/read-request";
import { createJsonResponse, toJsonResponse } from "@/lib/server/requests/responses";
import { ok } from "@/lib/shared/result";

export const GET = consoleRoute("listSavedViews", "viewer", async ({ request, ...context }) => {
  const query = readQuery(getSearchParams(request), savedViewsQuerySchema);
  if (!query.ok) return query;
  const { screen } = query.value;
  return ok(createJsonResponse({ views: await listSavedViews(context, screen) }));
});

export const POST = consoleBodyRoute("createSavedView", "viewer", savedViewBodySchema, async ({ annotateAudit, ...context }, body) => {
  annotateAudit({ target: body.name, outcome: body.team ? "of the team" : "personal" });
  return toJsonResponse(await createSavedView(context, body), (value) => ({ view: value }), 201);
});
