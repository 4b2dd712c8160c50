import { guarded } from "@/lib/server/bff/guard";
import { getQueue } from "@/lib/server/queries/jobs";
import { connectionIn } from "@/lib/server/requests/read-request";
import { jsonOf } from "@/lib/server/requests/responses";

/** For updates: the same view, by the same query, as in its first paint. */
export const GET = guarded({ action: "viewQueue", role: "viewer", connection: true }, async ({ request, ...context }) => {
  return jsonOf(await getQueue(context, connectionIn(request), request.signal));
});
