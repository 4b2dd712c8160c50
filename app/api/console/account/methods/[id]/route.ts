import { consoleRoute } from "@/lib/server/bff/routes";
import { disconnectProvider } from "@/lib/server/queries/sign-in";
import { idOf } from "@/lib/server/requests/read-request";
import { emptyAnswer } from "@/lib/server/requests/responses";
import { ok } from "@/lib/shared/result";

export const DELETE = consoleRoute("unlinkProvider", { role: "runner", recent: true }, async (asked) => {
  const id = idOf(asked);
  asked.annotateAudit({ target: id });
  const done = await disconnectProvider(asked, id);
  return done.ok ? ok(emptyAnswer()) : done;
});
