import { refusal } from "@/lib/contract/failure";
import { openApp } from "@/lib/server/apps/open-app";
import { smallPicture } from "@/lib/server/apps/runs";
import { consoleRoute } from "@/lib/server/bff/routes";
import { failed } from "@/lib/shared/result";

export const GET = consoleRoute("viewAppCover", "runner", async (asked) => {
  const app = await openApp(asked);
  if (!app.ok) return app;
  const { cover } = app.value;
  return cover === undefined ? failed(refusal("NOT_FOUND", "This app has no cover.")) : smallPicture(asked, app.value, { asset: cover });
});
