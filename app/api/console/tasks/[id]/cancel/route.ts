import { consoleRoute } from "@/lib/server/bff/routes";
import { toJsonResponse } from "@/lib/server/requests/responses";
import { cancelDownload } from "@/lib/server/tasks/downloads";

export const POST = consoleRoute("cancelDownload", "operator", async (context) => {
  return toJsonResponse(await cancelDownload(context));
});
