import { cancelRun, openRun } from "@/lib/server/apps/runs";
import { resourceRoute } from "@/lib/server/bff/routes";
import { toJsonResponse } from "@/lib/server/requests/responses";

export const POST = resourceRoute("cancelAppRun", "runner", openRun, async (context, run) => {
  return toJsonResponse(await cancelRun(context, run), (value) => ({ run: value }));
});
