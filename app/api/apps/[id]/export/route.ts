import { toAppFile } from "@/lib/server/apps/change-app";
import { openApp } from "@/lib/server/apps/open-app";
import { readCover } from "@/lib/server/apps/runs";
import { resourceRoute } from "@/lib/server/bff/routes";
import { createJsonResponse } from "@/lib/server/requests/responses";
import { ok } from "@/lib/shared/result";

export const GET = resourceRoute("exportApp", "viewer", openApp, async (context, app) => {
  const cover = await readCover(context, app);
  if (!cover.ok) return cover;
  const name = encodeURIComponent(`${app.title}.app.json`).replace(/['()*]/g, "_");
  const headers = new Headers({ "content-disposition": `attachment; filename="app.json"; filename*=UTF-8''${name}` });
  return ok(createJsonResponse(toAppFile(app, cover.value), 200, headers));
});
