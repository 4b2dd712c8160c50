import { guardedRoute } from "@/lib/server/bff/guard";
import { toJsonResponse } from "@/lib/server/requests/responses";
import { listDownloads } from "@/lib/server/tasks/downloads";

export const GET = guardedRoute({ action: "listDownloads", role: "viewer", needsConnection: true }, async (context) => {
  return toJsonResponse(await listDownloads(context));
});
