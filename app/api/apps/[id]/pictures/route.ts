import { openApp } from "@/lib/server/apps/open-app";
import { listPictures } from "@/lib/server/apps/pictures";
import { consoleRoute } from "@/lib/server/bff/routes";
import { jsonResponse } from "@/lib/server/requests/responses";
import { ok } from "@/lib/shared/result";

export const GET = consoleRoute("listAppPictures", "runner", async (context) => {
  const app = await openApp(context);
  return app.ok ? ok(jsonResponse({ pictures: await listPictures(context, app.value) })) : app;
});
