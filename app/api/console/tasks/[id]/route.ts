import { consoleRoute } from "@/lib/server/bff/routes";
import { toEmptyResponse } from "@/lib/server/requests/responses";
import { removeDownload } from "@/lib/server/tasks/downloads";

export const DELETE = consoleRoute("forgetDownload", "operator", async (context) => {
  return toEmptyResponse(await removeDownload(context));
});
