import { consoleRoute } from "@/lib/server/bff/routes";
import { toJsonResponse } from "@/lib/server/requests/responses";
import { retryDownload } from "@/lib/server/tasks/downloads";

export const POST = consoleRoute("retryDownload", "operator", async (context) => {
  return toJsonResponse(await retryDownload(context));
});
