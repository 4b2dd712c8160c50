import { getLiveOutputs } from "@/lib/server/answers/live-progress";
import { guarded } from "@/lib/server/bff/guard";
import { openConnection } from "@/lib/server/connections/access";
import { getConnectionParam } from "@/lib/server/requests/read-request";
import { jsonResponse } from "@/lib/server/requests/responses";
import { ok } from "@/lib/shared/result";

/** A running job's outputs so far, in the format of a job's outputs. */
export const GET = guarded({ action: "readLiveOutputs", role: "viewer", connection: true }, async ({ request, params, ...context }) => {
  const access = await openConnection(context, getConnectionParam(request));
  if (!access.ok) return access;
  return ok(jsonResponse({ outputs: typeof params.jobId === "string" ? getLiveOutputs(access.value, params.jobId).outputs : {} }));
});
