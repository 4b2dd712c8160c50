import { createAppDocument } from "@/lib/contract/apps/openapi";
import { openApp } from "@/lib/server/apps/open-app";
import { resourceRoute } from "@/lib/server/bff/routes";
import { getConsoleUrl } from "@/lib/server/env";
import { createJsonResponse } from "@/lib/server/requests/responses";
import { ok } from "@/lib/shared/result";

export const GET = resourceRoute("readAppOpenApi", "runner", openApp, async (context, app) => {
  const { id, version, definition } = app;
  const host = context.request.headers.get("host");
  return ok(
    createJsonResponse(createAppDocument({ id, version, ...definition }, getConsoleUrl(context.composition.env, host && `http://${host}`))),
  );
});
