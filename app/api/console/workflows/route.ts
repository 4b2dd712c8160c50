import { guardedRoute } from "@/lib/server/bff/guard";
import { openForJobs } from "@/lib/server/connections/access";
import { getConnectionParam } from "@/lib/server/requests/read-request";
import { createJsonResponse } from "@/lib/server/requests/responses";
import { ok } from "@/lib/shared/result";

/** Lists the workflows of a connection whose names are stored. */
export const GET = guardedRoute(
  { action: "listWorkflows", role: "viewer", needsConnection: true },
  async ({ request, annotateAudit, ...context }) => {
    const access = await openForJobs(context, getConnectionParam(request));
    if (!access.ok) return access;
    annotateAudit({ connectionId: access.value.connection.id });
    return ok(createJsonResponse({ workflows: await context.composition.store.workflowNames.listAll(access.value.connection.id) }));
  },
);
