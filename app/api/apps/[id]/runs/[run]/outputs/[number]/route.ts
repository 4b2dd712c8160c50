import { fetchResultFile, openRun } from "@/lib/server/apps/runs";
import { consoleRoute } from "@/lib/server/bff/routes";

export const GET = consoleRoute("viewAppResult", "runner", async (context) => {
  const runResult = await openRun(context);
  return runResult.ok ? fetchResultFile(context, runResult.value) : runResult;
});
