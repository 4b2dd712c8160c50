import { revokeToken } from "@/lib/server/tokens/personal-tokens";
import { emptyAnswer } from "@/lib/server/bff/answers";
import { consoleRoute, idOf } from "@/lib/server/bff/console-route";
import { ok } from "@/lib/shared/result";

export const DELETE = consoleRoute("revokeToken", { role: "runner", session: true, whileReadOnly: true }, async (asked) => {
  const id = idOf(asked);
  asked.note({ target: id });
  const revoked = await revokeToken(asked.viewer, id);
  if (!revoked.ok) return revoked;
  asked.note({ target: revoked.value.name, outcome: revoked.value.member.name });
  return ok(emptyAnswer());
});
