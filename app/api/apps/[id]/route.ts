import { appUpdateSchema } from "@/lib/contract/apps/app";
import { updateApp } from "@/lib/server/apps/change-app";
import { openApp, openOwnApp, toView } from "@/lib/server/apps/open-app";
import { consoleBodyRoute, consoleRoute } from "@/lib/server/bff/routes";
import { emptyAnswer, jsonAnswer } from "@/lib/server/requests/responses";
import { ok } from "@/lib/shared/result";

export const GET = consoleRoute("readApp", "runner", async (asked) => {
  const app = await openApp(asked);
  return app.ok ? ok(jsonAnswer({ app: await toView(asked, app.value) })) : app;
});

export const PUT = consoleBodyRoute("changeApp", "operator", appUpdateSchema, async (asked, body) => {
  const app = await openOwnApp(asked);
  if (!app.ok) return app;
  const changed = await updateApp(asked, app.value, body);
  return changed.ok ? ok(jsonAnswer({ app: await toView(asked, changed.value) })) : changed;
});

export const DELETE = consoleRoute("removeApp", "operator", async (asked) => {
  const app = await openOwnApp(asked);
  if (!app.ok) return app;
  await asked.composition.store.apps.remove(app.value.id);
  return ok(emptyAnswer());
});
