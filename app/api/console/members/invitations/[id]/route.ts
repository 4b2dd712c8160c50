import { withdrawInvitation } from "@/lib/server/auth/members";
import { consoleRoute } from "@/lib/server/bff/routes";
import { idOf } from "@/lib/server/requests/read-request";
import { emptyAnswer } from "@/lib/server/requests/responses";
import { ok } from "@/lib/shared/result";

export const DELETE = consoleRoute("withdrawInvitation", "admin", async (context) => {
  const withdrawn = await withdrawInvitation(context.composition, idOf(context));
  if (!withdrawn.ok) return withdrawn;
  context.annotateAudit({ target: withdrawn.value });
  return ok(emptyAnswer());
});
