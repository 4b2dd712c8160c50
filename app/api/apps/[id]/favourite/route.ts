import { openApp } from "@/lib/server/apps/open-app";
import { type Handler } from "@/lib/server/bff/guard";
import { consoleRoute } from "@/lib/server/bff/routes";
import { emptyResponse } from "@/lib/server/requests/responses";
import { ok } from "@/lib/shared/result";

function createFavouriteRoute(isFavourite: boolean): Handler {
  return consoleRoute("favourApp", "runner", async (context) => {
    const app = await openApp(context);
    if (!app.ok) return app;
    // Not logged, because it concerns only the member.
    context.annotateAudit({ by: undefined });
    await context.composition.store.appFiles.setFavourite(app.value.id, context.viewer.memberId, isFavourite);
    return ok(emptyResponse());
  });
}

export const PUT = createFavouriteRoute(true);
export const DELETE = createFavouriteRoute(false);
