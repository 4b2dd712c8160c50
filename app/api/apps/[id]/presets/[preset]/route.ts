import { appPresetBodySchema } from "@/lib/contract/apps/app";
import { openApp } from "@/lib/server/apps/open-app";
import { changePreset, removePreset } from "@/lib/server/apps/presets";
import { resourceBodyRoute, resourceRoute } from "@/lib/server/bff/routes";
import { emptyOf, jsonOf } from "@/lib/server/requests/responses";

export const PUT = resourceBodyRoute("changeAppPreset", "runner", appPresetBodySchema, openApp, async (context, app, body) => {
  return jsonOf(await changePreset(context, app, body), (value) => ({ preset: value }));
});

export const DELETE = resourceRoute("removeAppPreset", "runner", openApp, async (context, app) => {
  return emptyOf(await removePreset(context, app));
});
