import { refusal } from "@/lib/contract/failure";
import { endOwnSession } from "@/lib/server/auth/account";
import { consoleRoute } from "@/lib/server/bff/routes";
import { idOf } from "@/lib/server/requests/read-request";
import { emptyAnswer } from "@/lib/server/requests/responses";
import { failed, ok } from "@/lib/shared/result";

export const DELETE = consoleRoute("endSession", { role: "runner", session: true }, async (context) => {
  const browser = await endOwnSession(context, idOf(context));
  if (browser === undefined) return failed(refusal("NOT_FOUND", "There is no such session."));
  context.annotateAudit({ target: browser });
  return ok(emptyAnswer());
});
