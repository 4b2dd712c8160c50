import { consoleRoute } from "@/lib/server/bff/routes";
import { jsonAnswer } from "@/lib/server/requests/responses";
import { cancelDownload } from "@/lib/server/tasks/downloads";
import { ok } from "@/lib/shared/result";

export const POST = consoleRoute("cancelDownload", "operator", async (asked) => {
  const task = await cancelDownload(asked);
  return task.ok ? ok(jsonAnswer(task.value)) : task;
});
