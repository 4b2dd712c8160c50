import { consoleRoute } from "@/lib/server/bff/routes";
import { toJsonResponse } from "@/lib/server/requests/responses";
import { listDownloads } from "@/lib/server/tasks/downloads";

export const GET = consoleRoute("listDownloads", "viewer", async (context) => {
  return toJsonResponse(await listDownloads(context));
});
