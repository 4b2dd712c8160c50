import { describeMemberChange } from "@/lib/server/auth/members";
import { consoleRoute } from "@/lib/server/bff/routes";
import { grantJobsView, revokeJobsView } from "@/lib/server/connections/connection-views";
import { type AuthedContext } from "@/lib/server/context";
import { getIdParam } from "@/lib/server/requests/read-request";
import { toEmptyResponse } from "@/lib/server/requests/responses";

const describeTarget = ({ params, ...context }: AuthedContext) => describeMemberChange(context, String(params.memberId));

/** Lets a member see the jobs of another member's personal connection. */
export const PUT = consoleRoute("giveJobsView", { role: "admin", needsRecentSignIn: true, describeTarget }, async (context) => {
  const [connectionId, memberId] = [getIdParam(context), String(context.params.memberId)];
  context.annotateAudit({ connectionId, ...(await describeMemberChange(context, memberId)) });
  return toEmptyResponse(await grantJobsView(context, connectionId, memberId));
});

export const DELETE = consoleRoute("takeJobsView", { role: "viewer", describeTarget }, async (context) => {
  const [connectionId, memberId] = [getIdParam(context), String(context.params.memberId)];
  context.annotateAudit({ connectionId, ...(await describeMemberChange(context, memberId)) });
  return toEmptyResponse(await revokeJobsView(context, connectionId, memberId));
});
