import { openRun, readRun } from "@/lib/server/apps/runs";
import { consoleRoute } from "@/lib/server/bff/routes";
import { jsonAnswer } from "@/lib/server/requests/responses";
import { ok } from "@/lib/shared/result";

export const GET = consoleRoute("readAppRun", "runner", async (asked) => {
  const opened = await openRun(asked);
  if (!opened.ok) return opened;
  const run = await readRun(asked, opened.value);
  return run.ok ? ok(jsonAnswer({ run: run.value })) : run;
});
