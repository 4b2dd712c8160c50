import { openRun, readRun } from "@/lib/server/apps/runs";
import { resourceRoute } from "@/lib/server/bff/routes";
import { jsonOf } from "@/lib/server/requests/responses";

export const GET = resourceRoute("readAppRun", "runner", openRun, async (context, run) => {
  return jsonOf(await readRun(context, run), (value) => ({ run: value }));
});
