import { openApp } from "@/lib/server/apps/open-app";
import { consoleRoute } from "@/lib/server/bff/routes";
import { jsonAnswer } from "@/lib/server/requests/responses";
import { ok } from "@/lib/shared/result";

export const GET = consoleRoute("listAppVersions", "viewer", async (asked) => {
  const app = await openApp(asked);
  return app.ok ? ok(jsonAnswer({ versions: await asked.composition.store.apps.versions(app.value.id) })) : app;
});
