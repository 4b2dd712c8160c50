import { endOtherSessions, listSessions } from "@/lib/server/auth/account";
import { consoleRoute } from "@/lib/server/bff/routes";
import { emptyResponse, jsonResponse } from "@/lib/server/requests/responses";
import { ok } from "@/lib/shared/result";

export const GET = consoleRoute("listSessions", { role: "runner", session: true }, async (context) =>
  ok(jsonResponse({ sessions: await listSessions(context) })),
);

export const DELETE = consoleRoute("endSessions", { role: "runner", session: true }, async ({ annotateAudit, ...context }) => {
  annotateAudit({ outcome: `ended=${await endOtherSessions(context)}` });
  return ok(emptyResponse());
});
