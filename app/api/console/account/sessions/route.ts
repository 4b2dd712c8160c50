import { endOtherSessions, listSessions } from "@/lib/server/auth/account";
import { consoleRoute } from "@/lib/server/bff/routes";
import { createEmptyResponse, createJsonResponse } from "@/lib/server/requests/responses";
import { ok } from "@/lib/shared/result";

export const GET = consoleRoute("listSessions", { role: "runner", needsSession: true }, async (context) =>
  ok(createJsonResponse({ sessions: await listSessions(context) })),
);

export const DELETE = consoleRoute("endSessions", { role: "runner", needsSession: true }, async ({ annotateAudit, ...context }) => {
  annotateAudit({ outcome: `ended=${await endOtherSessions(context)}` });
  return ok(createEmptyResponse());
});
