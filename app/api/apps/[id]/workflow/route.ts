import { openApp } from "@/lib/server/apps/open-app";
import { resourceRoute } from "@/lib/server/bff/routes";
import { createJsonResponse } from "@/lib/server/requests/responses";
import { ok } from "@/lib/shared/result";

export const GET = resourceRoute("readAppWorkflow", "viewer", openApp, async (context, app) => {
  const { definition, version } = app;
  return ok(createJsonResponse({ ...definition, version }));
});
