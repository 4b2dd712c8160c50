import { openApp } from "@/lib/server/apps/open-app";
import { type Handler } from "@/lib/server/bff/guard";
import { consoleRoute } from "@/lib/server/bff/routes";
import { createEmptyResponse } from "@/lib/server/requests/responses";
import { ok } from "@/lib/shared/result";

function createFavouriteRoute(isFavourite: boolean): Handler {
  return consoleRoute("favourApp", "runner", async (context) => {
    const app = await openApp(context);
    if (!app.ok) return app;
    // Not audited, because it affects only the member.
    context.annotateAudit({ by: undefined });
    await context.composition.store.appFiles.setFavourite(app.value.id, context.viewer.memberId, isFavourite);
    return ok(createEmptyResponse());
  });
}

export const PUT = createFavouriteRoute(true);
export const DELETE = createFavouriteRoute(false);
