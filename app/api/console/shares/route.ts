import { formatTargets } from "@/lib/contract/audit/audit-items";
import { createFailure } from "@/lib/contract/failure";
import { shareBodySchema } from "@/lib/contract/share";
import { guardedRoute } from "@/lib/server/bff/guard";
import { consoleRoute } from "@/lib/server/bff/routes";
import { openConnection } from "@/lib/server/connections/access";
import { listShares } from "@/lib/server/queries/shares";
import { getConnectionParam, readJson } from "@/lib/server/requests/read-request";
import { createJsonResponse } from "@/lib/server/requests/responses";
import { createShare } from "@/lib/server/shares/create-share";
import { failed, ok } from "@/lib/shared/result";
import { formatCount } from "@/lib/shared/text";

export const GET = consoleRoute("listShares", { role: "operator", needsSession: true }, async (context) =>
  ok(createJsonResponse({ shares: await listShares(context) })),
);

export const POST = guardedRoute(
  { action: "createShare", role: "operator", needsConnection: false, needsRecentSignIn: true },
  async ({ annotateAudit, ...context }) => {
    const access = await openConnection(context, getConnectionParam(context.request));
    if (!access.ok) return access;
    annotateAudit({ connectionId: access.value.connection.id });
    if (!context.composition.env.shares) return failed(createFailure("FORBIDDEN", "Shares are disabled on this console."));
    const body = await readJson(context, shareBodySchema);
    if (!body.ok) return body;
    const shareResult = await createShare(access.value, body.value, context.request.signal);
    if (!shareResult.ok) return shareResult;
    const { id, title, count } = shareResult.value;
    annotateAudit({ target: title, outcome: formatTargets([{ id, name: title }], formatCount(count, "file")) });
    return ok(createJsonResponse(shareResult.value, 201));
  },
);
