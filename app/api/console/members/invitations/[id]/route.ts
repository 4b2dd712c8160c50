import { withdrawInvitation } from "@/lib/server/auth/members";
import { consoleRoute } from "@/lib/server/bff/routes";
import { getIdParam } from "@/lib/server/requests/read-request";
import { createEmptyResponse } from "@/lib/server/requests/responses";
import { ok } from "@/lib/shared/result";

export const DELETE = consoleRoute("withdrawInvitation", "admin", async (context) => {
  const result = await withdrawInvitation(context.composition, getIdParam(context));
  if (!result.ok) return result;
  context.annotateAudit({ target: result.value });
  return ok(createEmptyResponse());
});
