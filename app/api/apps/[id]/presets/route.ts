import { appPresetBodySchema } from "@/lib/contract/apps/app";
import { openApp } from "@/lib/server/apps/open-app";
import { addPreset, listPresets } from "@/lib/server/apps/presets";
import { consoleRoute, resourceBodyRoute } from "@/lib/server/bff/routes";
import { createJsonResponse, toJsonResponse } from "@/lib/server/requests/responses";
import { ok } from "@/lib/shared/result";

export const GET = consoleRoute("listAppPresets", "runner", async (context) => {
  const app = await openApp(context);
  return app.ok ? ok(createJsonResponse({ presets: await listPresets(context, app.value) })) : app;
});

export const POST = resourceBodyRoute("addAppPreset", "runner", appPresetBodySchema, openApp, async (context, app, body) => {
  return toJsonResponse(await addPreset(context, app, body), (value) => ({ preset: value }), 201);
});
