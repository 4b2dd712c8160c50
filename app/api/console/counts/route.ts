import { guardedRoute } from "@/lib/server/bff/guard";
import { countJobs } from "@/lib/server/queries/jobs";
import { getConnectionParam } from "@/lib/server/requests/read-request";
import { toJsonResponse } from "@/lib/server/requests/responses";

/** Counts all, running and waiting jobs of a connection. */
export const GET = guardedRoute({ action: "countJobs", role: "viewer", needsConnection: true }, async ({ request, ...context }) => {
  return toJsonResponse(await countJobs(context, getConnectionParam(request), request.signal));
});
