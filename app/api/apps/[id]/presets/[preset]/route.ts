import { appPresetBodySchema } from "@/lib/contract/apps/app";
import { openApp } from "@/lib/server/apps/open-app";
import { changePreset, removePreset } from "@/lib/server/apps/presets";
import { resourceBodyRoute, resourceRoute } from "@/lib/server/bff/routes";
import { toEmptyResponse, toJsonResponse } from "@/lib/server/requests/responses";

export const PUT = resourceBodyRoute("changeAppPreset", "runner", appPresetBodySchema, openApp, async (context, app, body) => {
  return toJsonResponse(await changePreset(context, app, body), (value) => ({ preset: value }));
});

export const DELETE = resourceRoute("removeAppPreset", "runner", openApp, async (context, app) => {
  return toEmptyResponse(await removePreset(context, app));
});
