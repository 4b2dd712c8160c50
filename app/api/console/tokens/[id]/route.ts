import { consoleRoute } from "@/lib/server/bff/routes";
import { getIdParam } from "@/lib/server/requests/read-request";
import { toEmptyResponse } from "@/lib/server/requests/responses";
import { describeToken, revokeToken } from "@/lib/server/tokens/personal-tokens";

export const DELETE = consoleRoute("revokeToken", { role: "runner", needsSession: true }, async (context) => {
  const id = getIdParam(context);
  context.annotateAudit(await describeToken(context.composition, id));
  return toEmptyResponse(await revokeToken(context, id));
});
