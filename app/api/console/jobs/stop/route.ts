import { formatTargets } from "@/lib/contract/audit/audit-items";
import { stopBodySchema } from "@/lib/contract/console";
import { guardedRoute } from "@/lib/server/bff/guard";
import { openConnection } from "@/lib/server/connections/access";
import { stopJobs } from "@/lib/server/jobs/stop-jobs";
import { toAuditTargets, toOutcome } from "@/lib/server/operations/audit-targets";
import { getConnectionParam, readJson } from "@/lib/server/requests/read-request";
import { createJsonResponse } from "@/lib/server/requests/responses";
import { ok } from "@/lib/shared/result";

export const POST = guardedRoute({ action: "stopJobs", role: "operator", needsConnection: true }, async ({ annotateAudit, ...context }) => {
  const access = await openConnection(context, getConnectionParam(context.request));
  if (!access.ok) return access;
  const body = await readJson(context, stopBodySchema);
  if (!body.ok) return body;
  const targets = toAuditTargets(body.value.ids, access.value);
  annotateAudit({
    connectionId: access.value.connection.id,
    target: `${body.value.ids.length} jobs`,
    outcome: formatTargets(targets, undefined),
  });
  const result = await stopJobs(access.value, body.value.ids, context.request.signal);
  if (!result.ok) return result;
  annotateAudit({ outcome: formatTargets(targets, toOutcome(result.value)) });
  return ok(createJsonResponse(result.value));
});
