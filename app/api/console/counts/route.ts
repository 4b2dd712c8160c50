import { guarded } from "@/lib/server/bff/guard";
import { countJobs } from "@/lib/server/queries/jobs";
import { getConnectionParam } from "@/lib/server/requests/read-request";
import { toJsonResponse } from "@/lib/server/requests/responses";

/** Counts a connection's jobs, and how many of them run and wait. */
export const GET = guarded({ action: "countJobs", role: "viewer", connection: true }, async ({ request, ...context }) => {
  return toJsonResponse(await countJobs(context, getConnectionParam(request), request.signal));
});
