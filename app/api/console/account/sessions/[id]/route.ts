import { endOwnSession } from "@/lib/server/auth/account";
import { emptyAnswer } from "@/lib/server/bff/answers";
import { consoleRoute, idOf } from "@/lib/server/bff/console-route";
import { refusal } from "@/lib/server/bff/guard";
import { failed, ok } from "@/lib/shared/result";

export const DELETE = consoleRoute("endSession", { role: "runner", session: true, whileReadOnly: true }, async (asked) => {
  const browser = await endOwnSession(asked.viewer, idOf(asked));
  if (browser === undefined) return failed(refusal("NOT_FOUND", "There is no such session."));
  asked.note({ target: browser });
  return ok(emptyAnswer());
});
