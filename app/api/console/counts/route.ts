import { guarded } from "@/lib/server/bff/guard";
import { countJobs } from "@/lib/server/queries/jobs";
import { connectionIn } from "@/lib/server/requests/read-request";
import { jsonOf } from "@/lib/server/requests/responses";

/** How many jobs a connection has, and how many of them run and wait. */
export const GET = guarded({ action: "countJobs", role: "viewer", connection: true }, async ({ request, ...context }) => {
  return jsonOf(await countJobs(context, connectionIn(request), request.signal));
});
