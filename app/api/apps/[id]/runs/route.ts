import { appRunsQuerySchema } from "@/lib/contract/apps/app";
import { openApp } from "@/lib/server/apps/open-app";
import { runApp } from "@/lib/server/apps/run-app";
import { toRunView } from "@/lib/server/apps/run-state";
import { listRuns } from "@/lib/server/apps/runs";
import { consoleRoute } from "@/lib/server/bff/routes";
import { readQuery, searchOf } from "@/lib/server/requests/read-request";
import { jsonAnswer } from "@/lib/server/requests/responses";
import { ok } from "@/lib/shared/result";

export const GET = consoleRoute("listAppRuns", "runner", async (asked) => {
  const query = readQuery(searchOf(asked.request), appRunsQuerySchema);
  if (!query.ok) return query;
  const app = await openApp(asked);
  if (!app.ok) return app;
  const runs = await listRuns(asked, app.value, query.value);
  return runs.ok ? ok(jsonAnswer(runs.value)) : runs;
});

export const POST = consoleRoute("runApp", "runner", async (asked) => {
  const app = await openApp(asked);
  if (!app.ok) return app;
  const run = await runApp(asked, app.value);
  return run.ok ? ok(jsonAnswer({ run: toRunView(asked.viewer, run.value) }, 202)) : run;
});
