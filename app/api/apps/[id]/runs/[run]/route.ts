import { openRun, readRun } from "@/lib/server/apps/runs";
import { resourceRoute } from "@/lib/server/bff/routes";
import { toJsonResponse } from "@/lib/server/requests/responses";

export const GET = resourceRoute("readAppRun", "runner", openRun, async (context, run) => {
  return toJsonResponse(await readRun(context, run), (value) => ({ run: value }));
});
