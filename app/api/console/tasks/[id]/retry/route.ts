import { consoleRoute } from "@/lib/server/bff/routes";
import { jsonAnswer } from "@/lib/server/requests/responses";
import { retryDownload } from "@/lib/server/tasks/downloads";
import { ok } from "@/lib/shared/result";

export const POST = consoleRoute("retryDownload", "operator", async (asked) => {
  const task = await retryDownload(asked);
  return task.ok ? ok(jsonAnswer(task.value)) : task;
});
