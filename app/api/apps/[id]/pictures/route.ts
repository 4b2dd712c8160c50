import { listInputImages } from "@/lib/server/apps/input-images";
import { openApp } from "@/lib/server/apps/open-app";
import { consoleRoute } from "@/lib/server/bff/routes";
import { createJsonResponse } from "@/lib/server/requests/responses";
import { ok } from "@/lib/shared/result";

export const GET = consoleRoute("listAppPictures", "runner", async (context) => {
  const app = await openApp(context);
  return app.ok ? ok(createJsonResponse({ pictures: await listInputImages(context, app.value) })) : app;
});
