import { openApp } from "@/lib/server/apps/open-app";
import { consoleRoute } from "@/lib/server/bff/routes";
import { jsonResponse } from "@/lib/server/requests/responses";
import { ok } from "@/lib/shared/result";

export const GET = consoleRoute("listAppVersions", "viewer", async (context) => {
  const app = await openApp(context);
  return app.ok ? ok(jsonResponse({ versions: await context.composition.store.apps.versions(app.value.id) })) : app;
});
