import { guardedRoute } from "@/lib/server/bff/guard";
import { getMaskLayer } from "@/lib/server/queries/assets";
import { getSearchParams } from "@/lib/server/requests/read-request";
import { toJsonResponse } from "@/lib/server/requests/responses";

/** GET /api/files/mask-layers for the editor. Missing layers are a result here, not a failure. */
export const GET = guardedRoute({ action: "viewMaskLayer", role: "viewer", needsConnection: true }, async ({ request, ...context }) => {
  return toJsonResponse(await getMaskLayer(context, getSearchParams(request), request.signal));
});
