import { appRunsQuerySchema } from "@/lib/contract/apps/app";
import { openApp } from "@/lib/server/apps/open-app";
import { runApp } from "@/lib/server/apps/run-app";
import { toRunView } from "@/lib/server/apps/run-state";
import { listRuns } from "@/lib/server/apps/runs";
import { consoleRoute, resourceRoute } from "@/lib/server/bff/routes";
import { getSearchParams, readQuery } from "@/lib/server/requests/read-request";
import { toJsonResponse } from "@/lib/server/requests/responses";

export const GET = consoleRoute("listAppRuns", "runner", async (context) => {
  const query = readQuery(getSearchParams(context.request), appRunsQuerySchema);
  if (!query.ok) return query;
  const app = await openApp(context);
  if (!app.ok) return app;
  return toJsonResponse(await listRuns(context, app.value, query.value));
});

export const POST = resourceRoute("runApp", "runner", openApp, async (context, app) => {
  return toJsonResponse(await runApp(context, app), (value) => ({ run: toRunView(context.viewer, value) }), 202);
});
