import { consoleRoute } from "@/lib/server/bff/routes";
import { disconnectProvider } from "@/lib/server/queries/members";
import { getIdParam } from "@/lib/server/requests/read-request";
import { toEmptyResponse } from "@/lib/server/requests/responses";

export const DELETE = consoleRoute("unlinkProvider", { role: "runner", needsRecentSignIn: true }, async (context) => {
  const id = getIdParam(context);
  context.annotateAudit({ target: id });
  return toEmptyResponse(await disconnectProvider(context, id));
});
