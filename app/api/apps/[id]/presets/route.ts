import { appPresetBodySchema } from "@/lib/contract/apps/app";
import { openApp } from "@/lib/server/apps/open-app";
import { addPreset, listPresets } from "@/lib/server/apps/presets";
import { consoleBodyRoute, consoleRoute } from "@/lib/server/bff/routes";
import { jsonAnswer } from "@/lib/server/requests/responses";
import { ok } from "@/lib/shared/result";

export const GET = consoleRoute("listAppPresets", "runner", async (asked) => {
  const app = await openApp(asked);
  return app.ok ? ok(jsonAnswer({ presets: await listPresets(asked, app.value) })) : app;
});

export const POST = consoleBodyRoute("addAppPreset", "runner", appPresetBodySchema, async (asked, body) => {
  const app = await openApp(asked);
  if (!app.ok) return app;
  const preset = await addPreset(asked, app.value, body);
  return preset.ok ? ok(jsonAnswer({ preset: preset.value }, 201)) : preset;
});
