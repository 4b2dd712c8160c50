import { appPresetBodySchema } from "@/lib/contract/apps/app";
import { openApp } from "@/lib/server/apps/open-app";
import { changePreset, removePreset } from "@/lib/server/apps/presets";
import { consoleBodyRoute, consoleRoute } from "@/lib/server/bff/routes";
import { emptyAnswer, jsonAnswer } from "@/lib/server/requests/responses";
import { ok } from "@/lib/shared/result";

export const PUT = consoleBodyRoute("changeAppPreset", "runner", appPresetBodySchema, async (asked, body) => {
  const app = await openApp(asked);
  if (!app.ok) return app;
  const preset = await changePreset(asked, app.value, body);
  return preset.ok ? ok(jsonAnswer({ preset: preset.value })) : preset;
});

export const DELETE = consoleRoute("removeAppPreset", "runner", async (asked) => {
  const app = await openApp(asked);
  if (!app.ok) return app;
  const removed = await removePreset(asked, app.value);
  return removed.ok ? ok(emptyAnswer()) : removed;
});
