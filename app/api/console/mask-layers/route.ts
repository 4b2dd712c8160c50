import { guarded } from "@/lib/server/bff/guard";
import { getMaskLayer } from "@/lib/server/queries/assets";
import { searchOf } from "@/lib/server/requests/read-request";
import { jsonOf } from "@/lib/server/requests/responses";

/** GET /api/files/mask-layers for the editor: missing layers are a result here, not a failure. */
export const GET = guarded({ action: "viewMaskLayer", role: "viewer", connection: true }, async ({ request, ...context }) => {
  return jsonOf(await getMaskLayer(context, searchOf(request), request.signal));
});
