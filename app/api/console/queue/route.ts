import { guardedRoute } from "@/lib/server/bff/guard";
import { getQueue } from "@/lib/server/queries/jobs";
import { getConnectionParam } from "@/lib/server/requests/read-request";
import { toJsonResponse } from "@/lib/server/requests/responses";

/** Updates the queue page with the same view and query as its first paint. */
export const GET = guardedRoute({ action: "viewQueue", role: "viewer", needsConnection: true }, async ({ request, ...context }) => {
  return toJsonResponse(await getQueue(context, getConnectionParam(request), request.signal));
});
