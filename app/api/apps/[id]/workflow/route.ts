import { openApp } from "@/lib/server/apps/open-app";
import { resourceRoute } from "@/lib/server/bff/routes";
import { jsonResponse } from "@/lib/server/requests/responses";
import { ok } from "@/lib/shared/result";

export const GET = resourceRoute("readAppWorkflow", "viewer", openApp, async (context, app) => {
  const { definition, version } = app;
  return ok(jsonResponse({ ...definition, version }));
});
