import { guarded } from "@/lib/server/bff/guard";
import { openForJobs } from "@/lib/server/connections/access";
import { getConnectionParam } from "@/lib/server/requests/read-request";
import { jsonResponse } from "@/lib/server/requests/responses";
import { ok } from "@/lib/shared/result";

/** A connection's workflows with known names. */
export const GET = guarded(
  { action: "listWorkflows", role: "viewer", connection: true },
  async ({ request, annotateAudit, ...context }) => {
    const access = await openForJobs(context, getConnectionParam(request));
    if (!access.ok) return access;
    annotateAudit({ connectionId: access.value.connection.id });
    return ok(jsonResponse({ workflows: await context.composition.store.workflowNames.all(access.value.connection.id) }));
  },
);
