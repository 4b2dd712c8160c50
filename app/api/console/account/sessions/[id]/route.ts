import { createFailure } from "@/lib/contract/failure";
import { endOwnSession } from "@/lib/server/auth/account";
import { consoleRoute } from "@/lib/server/bff/routes";
import { getIdParam } from "@/lib/server/requests/read-request";
import { createEmptyResponse } from "@/lib/server/requests/responses";
import { failed, ok } from "@/lib/shared/result";

export const DELETE = consoleRoute("endSession", { role: "runner", needsSession: true }, async (context) => {
  const browserName = await endOwnSession(context, getIdParam(context));
  if (browserName === undefined) return failed(createFailure("NOT_FOUND", "There is no such session."));
  context.annotateAudit({ target: browserName });
  return ok(createEmptyResponse());
});
