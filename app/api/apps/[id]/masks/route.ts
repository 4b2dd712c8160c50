import { receiveMask } from "@/lib/server/apps/input-images";
import { openApp } from "@/lib/server/apps/open-app";
import { resourceRoute } from "@/lib/server/bff/routes";
import { toJsonResponse } from "@/lib/server/requests/responses";

/** Takes the same parts (`original_ref` and `image`) and returns the same response as POST /api/upload/mask. */
export const POST = resourceRoute("addAppMask", "runner", openApp, async (context, app) => {
  return toJsonResponse(await receiveMask(context, app));
});
