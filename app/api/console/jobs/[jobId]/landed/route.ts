import { getLiveOutputs } from "@/lib/server/answers/live-progress";
import { guarded } from "@/lib/server/bff/guard";
import { openConnection } from "@/lib/server/connections/access";
import { connectionIn } from "@/lib/server/requests/read-request";
import { jsonAnswer } from "@/lib/server/requests/responses";
import { ok } from "@/lib/shared/result";

/** What a running job has put out so far, in the shape of a job's outputs; empty if the service has reported nothing. */
export const GET = guarded({ action: "readLiveOutputs", role: "viewer", connection: true }, async ({ request, params, ...context }) => {
  const access = await openConnection(context, connectionIn(request));
  if (!access.ok) return access;
  return ok(jsonAnswer({ outputs: typeof params.jobId === "string" ? getLiveOutputs(access.value, params.jobId).outputs : {} }));
});
