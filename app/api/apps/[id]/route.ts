import { appUpdateSchema } from "@/lib/contract/apps/app";
import { updateApp } from "@/lib/server/apps/change-app";
import { openApp, openOwnApp, toView } from "@/lib/server/apps/open-app";
import { consoleRoute, resourceBodyRoute, resourceRoute } from "@/lib/server/bff/routes";
import { emptyResponse, jsonResponse } from "@/lib/server/requests/responses";
import { ok } from "@/lib/shared/result";

export const GET = consoleRoute("readApp", "runner", async (context) => {
  const app = await openApp(context);
  return app.ok ? ok(jsonResponse({ app: await toView(context, app.value) })) : app;
});

export const PUT = resourceBodyRoute("changeApp", "operator", appUpdateSchema, openOwnApp, async (context, app, body) => {
  const result = await updateApp(context, app, body);
  return result.ok ? ok(jsonResponse({ app: await toView(context, result.value) })) : result;
});

export const DELETE = resourceRoute("removeApp", "operator", openOwnApp, async (context, app) => {
  await context.composition.store.apps.remove(app.id);
  return ok(emptyResponse());
});
