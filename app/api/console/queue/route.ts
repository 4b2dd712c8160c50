import { guarded } from "@/lib/server/bff/guard";
import { getQueue } from "@/lib/server/queries/jobs";
import { getConnectionParam } from "@/lib/server/requests/read-request";
import { toJsonResponse } from "@/lib/server/requests/responses";

/** For updates: the same view and query as in the first paint. */
export const GET = guarded({ action: "viewQueue", role: "viewer", connection: true }, async ({ request, ...context }) => {
  return toJsonResponse(await getQueue(context, getConnectionParam(request), request.signal));
});
