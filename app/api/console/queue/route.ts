import { guarded } from "@/lib/server/bff/guard";
import { getQueue } from "@/lib/server/queries/jobs";
import { connectionIn } from "@/lib/server/requests/read-request";
import { jsonAnswer } from "@/lib/server/requests/responses";
import { ok } from "@/lib/shared/result";

/** For the page's polls: the same view, by the same query, as in its first paint. */
export const GET = guarded({ action: "viewQueue", role: "viewer", connection: true }, async ({ request, ...context }) => {
  const view = await getQueue(context, connectionIn(request), request.signal);
  return view.ok ? ok(jsonAnswer(view.value)) : view;
});
