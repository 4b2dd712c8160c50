import { cancelRun, openRun } from "@/lib/server/apps/runs";
import { consoleRoute } from "@/lib/server/bff/routes";
import { jsonAnswer } from "@/lib/server/requests/responses";
import { ok } from "@/lib/shared/result";

export const POST = consoleRoute("cancelAppRun", "runner", async (asked) => {
  const opened = await openRun(asked);
  if (!opened.ok) return opened;
  const run = await cancelRun(asked, opened.value);
  return run.ok ? ok(jsonAnswer({ run: run.value })) : run;
});
