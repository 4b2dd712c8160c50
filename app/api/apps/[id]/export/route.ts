import { toFile } from "@/lib/server/apps/change-app";
import { openApp } from "@/lib/server/apps/open-app";
import { readCover } from "@/lib/server/apps/runs";
import { consoleRoute } from "@/lib/server/bff/routes";
import { jsonAnswer } from "@/lib/server/requests/responses";
import { ok } from "@/lib/shared/result";

export const GET = consoleRoute("exportApp", "viewer", async (asked) => {
  const app = await openApp(asked);
  if (!app.ok) return app;
  const cover = await readCover(asked, app.value);
  if (!cover.ok) return cover;
  const name = encodeURIComponent(`${app.value.title}.app.json`).replace(/['()*]/g, "_");
  const headers = new Headers({ "content-disposition": `attachment; filename="app.json"; filename*=UTF-8''${name}` });
  return ok(jsonAnswer(toFile(app.value, cover.value), 200, headers));
});
