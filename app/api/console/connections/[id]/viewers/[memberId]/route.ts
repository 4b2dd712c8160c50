import { memberFacts } from "@/lib/server/auth/members";
import { consoleRoute } from "@/lib/server/bff/routes";
import { giveJobsView, takeJobsView } from "@/lib/server/connections/views";
import { type AuthedContext } from "@/lib/server/context";
import { idOf } from "@/lib/server/requests/read-request";
import { emptyAnswer } from "@/lib/server/requests/responses";
import { ok } from "@/lib/shared/result";

const about = ({ params, ...context }: AuthedContext) => memberFacts(context, String(params.memberId));

/** From now on a member sees the jobs of another member's own connection. */
export const PUT = consoleRoute("giveJobsView", { role: "admin", recent: true, about }, async (asked) => {
  const [connectionId, memberId] = [idOf(asked), String(asked.params.memberId)];
  asked.annotateAudit({ connectionId, ...(await memberFacts(asked, memberId)) });
  const result = await giveJobsView(asked, connectionId, memberId);
  return result.ok ? ok(emptyAnswer()) : result;
});

export const DELETE = consoleRoute("takeJobsView", { role: "viewer", about }, async (asked) => {
  const [connectionId, memberId] = [idOf(asked), String(asked.params.memberId)];
  asked.annotateAudit({ connectionId, ...(await memberFacts(asked, memberId)) });
  const result = await takeJobsView(asked, connectionId, memberId);
  return result.ok ? ok(emptyAnswer()) : result;
});
