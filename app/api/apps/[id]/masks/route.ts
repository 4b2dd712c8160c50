import { openApp } from "@/lib/server/apps/open-app";
import { receiveMask } from "@/lib/server/apps/pictures";
import { consoleRoute } from "@/lib/server/bff/routes";
import { jsonAnswer } from "@/lib/server/requests/responses";
import { ok } from "@/lib/shared/result";

/** The parts `original_ref` and `image` and the answer are those of POST /api/upload/mask. */
export const POST = consoleRoute("addAppMask", "runner", async (asked) => {
  const app = await openApp(asked);
  if (!app.ok) return app;
  const saved = await receiveMask(asked, app.value);
  return saved.ok ? ok(jsonAnswer(saved.value)) : saved;
});
