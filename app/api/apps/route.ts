import { appBodySchema, appsQuerySchema } from "@/lib/contract/apps/app";
import { createApp, listApps } from "@/lib/server/apps/change-app";
import { toView } from "@/lib/server/apps/open-app";
import { consoleBodyRoute, consoleRoute } from "@/lib/server/bff/routes";
import { connectionIn, readQuery, searchOf } from "@/lib/server/requests/read-request";
import { jsonAnswer, jsonOf } from "@/lib/server/requests/responses";
import { ok } from "@/lib/shared/result";

export const GET = consoleRoute("listApps", "runner", async ({ request, ...context }) => {
  const search = searchOf(request);
  const query = readQuery(search, appsQuerySchema);
  if (!query.ok) return query;
  return jsonOf(await listApps(context, connectionIn(request), query.value));
});

export const POST = consoleBodyRoute("createApp", "operator", appBodySchema, async (context, body) => {
  const appResult = await createApp(context, connectionIn(context.request), body);
  return appResult.ok ? ok(jsonAnswer({ app: await toView(context, appResult.value) }, 201)) : appResult;
});
