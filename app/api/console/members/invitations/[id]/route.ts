import { withdrawInvitation } from "@/lib/server/auth/members";
import { emptyAnswer } from "@/lib/server/bff/answers";
import { consoleRoute, idOf } from "@/lib/server/bff/console-route";
import { ok } from "@/lib/shared/result";

export const DELETE = consoleRoute("withdrawInvitation", "admin", async (asked) => {
  const withdrawn = await withdrawInvitation(idOf(asked));
  if (!withdrawn.ok) return withdrawn;
  asked.note({ target: withdrawn.value });
  return ok(emptyAnswer());
});
