import { endOtherSessions, listSessions } from "@/lib/server/auth/account";
import { consoleRoute } from "@/lib/server/bff/console-route";
import { emptyAnswer, jsonAnswer } from "@/lib/server/requests/responses";
import { ok } from "@/lib/shared/result";

export const GET = consoleRoute("listSessions", { role: "runner", session: true }, async ({ viewer }) =>
  ok(jsonAnswer({ sessions: await listSessions(viewer) })),
);

export const DELETE = consoleRoute("endSessions", { role: "runner", session: true, whileReadOnly: true }, async ({ viewer, note }) => {
  note({ outcome: `ended=${await endOtherSessions(viewer)}` });
  return ok(emptyAnswer());
});
