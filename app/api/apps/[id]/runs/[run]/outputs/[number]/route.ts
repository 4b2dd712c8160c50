import { openRun, resultBytes } from "@/lib/server/apps/runs";
import { consoleRoute } from "@/lib/server/bff/routes";

export const GET = consoleRoute("viewAppResult", "runner", async (asked) => {
  const opened = await openRun(asked);
  return opened.ok ? resultBytes(asked, opened.value) : opened;
});
