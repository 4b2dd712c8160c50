import { consoleRoute } from "@/lib/server/bff/routes";
import { jsonAnswer } from "@/lib/server/requests/responses";
import { listDownloads } from "@/lib/server/tasks/downloads";
import { ok } from "@/lib/shared/result";

export const GET = consoleRoute("listDownloads", "viewer", async (asked) => {
  const list = await listDownloads(asked);
  return list.ok ? ok(jsonAnswer(list.value)) : list;
});
