import { appDocument } from "@/lib/contract/apps/openapi";
import { openApp } from "@/lib/server/apps/open-app";
import { consoleRoute } from "@/lib/server/bff/routes";
import { consoleUrl } from "@/lib/server/env";
import { jsonAnswer } from "@/lib/server/requests/responses";
import { ok } from "@/lib/shared/result";

export const GET = consoleRoute("readAppOpenApi", "runner", async (asked) => {
  const app = await openApp(asked);
  if (!app.ok) return app;
  const { id, version, definition } = app.value;
  const host = asked.request.headers.get("host");
  return ok(jsonAnswer(appDocument({ id, version, ...definition }, consoleUrl(asked.composition.env, host && `http://${host}`))));
});
