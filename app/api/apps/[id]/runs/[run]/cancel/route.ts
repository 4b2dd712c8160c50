import { cancelRun, openRun } from "@/lib/server/apps/runs";
import { openedRoute } from "@/lib/server/bff/routes";
import { jsonOf } from "@/lib/server/requests/responses";

export const POST = openedRoute("cancelAppRun", "runner", openRun, async (context, run) => {
  return jsonOf(await cancelRun(context, run), (value) => ({ run: value }));
});
