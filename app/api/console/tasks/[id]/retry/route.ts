import { consoleRoute } from "@/lib/server/bff/routes";
import { jsonOf } from "@/lib/server/requests/responses";
import { retryDownload } from "@/lib/server/tasks/downloads";

export const POST = consoleRoute("retryDownload", "operator", async (context) => {
  return jsonOf(await retryDownload(context));
});
