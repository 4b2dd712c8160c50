import { withdrawInvitation } from "@/lib/server/auth/members";
import { consoleRoute } from "@/lib/server/bff/routes";
import { getIdParam } from "@/lib/server/requests/read-request";
import { emptyResponse } from "@/lib/server/requests/responses";
import { ok } from "@/lib/shared/result";

export const DELETE = consoleRoute("withdrawInvitation", "admin", async (context) => {
  const withdrawn = await withdrawInvitation(context.composition, getIdParam(context));
  if (!withdrawn.ok) return withdrawn;
  context.annotateAudit({ target: withdrawn.value });
  return ok(emptyResponse());
});
