import { withdrawInvitation } from "@/lib/server/auth/members";
import { consoleRoute } from "@/lib/server/bff/routes";
import { idOf } from "@/lib/server/requests/read-request";
import { emptyAnswer } from "@/lib/server/requests/responses";
import { ok } from "@/lib/shared/result";

export const DELETE = consoleRoute("withdrawInvitation", "admin", async (asked) => {
  const withdrawn = await withdrawInvitation(asked.composition, idOf(asked));
  if (!withdrawn.ok) return withdrawn;
  asked.annotateAudit({ target: withdrawn.value });
  return ok(emptyAnswer());
});
