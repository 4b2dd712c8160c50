import { restoreVersion } from "@/lib/server/apps/change-app";
import { openOwnApp, toView } from "@/lib/server/apps/open-app";
import { consoleRoute } from "@/lib/server/bff/routes";
import { jsonAnswer } from "@/lib/server/requests/responses";
import { ok } from "@/lib/shared/result";

export const POST = consoleRoute("restoreApp", "operator", async (asked) => {
  const app = await openOwnApp(asked);
  if (!app.ok) return app;
  const restored = await restoreVersion(asked, app.value);
  return restored.ok ? ok(jsonAnswer({ app: await toView(asked, restored.value) })) : restored;
});
