import { consoleRoute } from "@/lib/server/bff/routes";
import { idOf } from "@/lib/server/requests/read-request";
import { emptyOf } from "@/lib/server/requests/responses";
import { revokeToken, tokenFacts } from "@/lib/server/tokens/personal-tokens";

export const DELETE = consoleRoute("revokeToken", { role: "runner", session: true }, async (context) => {
  const id = idOf(context);
  context.annotateAudit(await tokenFacts(context.composition, id));
  return emptyOf(await revokeToken(context, id));
});
