import { createFailure } from "@/lib/contract/failure";
import { openApp } from "@/lib/server/apps/open-app";
import { fetchThumbnail } from "@/lib/server/apps/runs";
import { resourceRoute } from "@/lib/server/bff/routes";
import { failed } from "@/lib/shared/result";

export const GET = resourceRoute("viewAppCover", "runner", openApp, async (context, app) => {
  const { cover } = app;
  return cover === undefined
    ? failed(createFailure("NOT_FOUND", "This app has no cover."))
    : fetchThumbnail(context, app, { asset: cover });
});
