import { openApp } from "@/lib/server/apps/open-app";
import { consoleRoute } from "@/lib/server/bff/routes";
import { jsonAnswer } from "@/lib/server/requests/responses";
import { ok } from "@/lib/shared/result";

export const GET = consoleRoute("readAppWorkflow", "viewer", async (asked) => {
  const app = await openApp(asked);
  if (!app.ok) return app;
  const { definition, version } = app.value;
  return ok(jsonAnswer({ ...definition, version }));
});
