import { openApp } from "@/lib/server/apps/open-app";
import { consoleRoute } from "@/lib/server/bff/routes";
import { createJsonResponse } from "@/lib/server/requests/responses";
import { ok } from "@/lib/shared/result";

export const GET = consoleRoute("listAppVersions", "viewer", async (context) => {
  const app = await openApp(context);
  return app.ok ? ok(createJsonResponse({ versions: await context.composition.store.apps.listVersions(app.value.id) })) : app;
});
