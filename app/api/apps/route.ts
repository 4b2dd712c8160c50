import { appBodySchema, appsQuerySchema } from "@/lib/contract/apps/app";
import { createApp, listApps } from "@/lib/server/apps/change-app";
import { toAppView } from "@/lib/server/apps/open-app";
import { consoleBodyRoute, consoleRoute } from "@/lib/server/bff/routes";
import { getConnectionParam, getSearchParams, readQuery } from "@/lib/server/requests/read-request";
import { createJsonResponse, toJsonResponse } from "@/lib/server/requests/responses";
import { ok } from "@/lib/shared/result";

export const GET = consoleRoute("listApps", "runner", async ({ request, ...context }) => {
  const search = getSearchParams(request);
  const query = readQuery(search, appsQuerySchema);
  if (!query.ok) return query;
  return toJsonResponse(await listApps(context, getConnectionParam(request), query.value));
});

export const POST = consoleBodyRoute("createApp", "operator", appBodySchema, async (context, body) => {
  const appResult = await createApp(context, getConnectionParam(context.request), body);
  return appResult.ok ? ok(createJsonResponse({ app: await toAppView(context, appResult.value) }, 201)) : appResult;
});
