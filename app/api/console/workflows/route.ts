import { CONNECTION_PARAMETER } from "@/lib/contract/console";
import { guarded } from "@/lib/server/bff/guard";
import { openForJobs } from "@/lib/server/connections/access";
import { searchOf } from "@/lib/server/requests/read-request";
import { jsonAnswer } from "@/lib/server/requests/responses";
import { ok } from "@/lib/shared/result";

/** The workflows of a connection whose names are known. */
export const GET = guarded({ action: "listWorkflows", role: "viewer", connection: true }, async ({ request, viewer, console, note }) => {
  const access = await openForJobs(viewer, searchOf(request).get(CONNECTION_PARAMETER) ?? undefined);
  if (!access.ok) return access;
  note({ connectionId: access.value.connection.id });
  return ok(jsonAnswer({ workflows: await console.store.workflowNames.all(access.value.connection.id) }));
});
