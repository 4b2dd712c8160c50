import { consoleRoute } from "@/lib/server/bff/routes";
import { idOf } from "@/lib/server/requests/read-request";
import { emptyAnswer } from "@/lib/server/requests/responses";
import { revokeToken, tokenFacts } from "@/lib/server/tokens/personal-tokens";
import { ok } from "@/lib/shared/result";

export const DELETE = consoleRoute("revokeToken", { role: "runner", session: true }, async (asked) => {
  const id = idOf(asked);
  asked.annotateAudit(await tokenFacts(asked.composition, id));
  const revoked = await revokeToken(asked, id);
  return revoked.ok ? ok(emptyAnswer()) : revoked;
});
