import { appUpdateSchema } from "@/lib/contract/apps/app";
import { updateApp } from "@/lib/server/apps/change-app";
import { openApp, openEditableApp, toAppView } from "@/lib/server/apps/open-app";
import { consoleRoute, resourceBodyRoute, resourceRoute } from "@/lib/server/bff/routes";
import { createEmptyResponse, createJsonResponse } from "@/lib/server/requests/responses";
import { ok } from "@/lib/shared/result";

export const GET = consoleRoute("readApp", "runner", async (context) => {
  const app = await openApp(context);
  return app.ok ? ok(createJsonResponse({ app: await toAppView(context, app.value) })) : app;
});

export const PUT = resourceBodyRoute("changeApp", "operator", appUpdateSchema, openEditableApp, async (context, app, body) => {
  const result = await updateApp(context, app, body);
  return result.ok ? ok(createJsonResponse({ app: await toAppView(context, result.value) })) : result;
});

export const DELETE = resourceRoute("removeApp", "operator", openEditableApp, async (context, app) => {
  await context.composition.store.apps.remove(app.id);
  return ok(createEmptyResponse());
});
