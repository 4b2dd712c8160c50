import { z } from "zod";
import { runnerChangeSchema } from "@/lib/contract/runners/runners";
import { consoleBodyRoute } from "@/lib/server/bff/routes";
import { saveRunner } from "@/lib/server/queries/runners";
import { getIdParam } from "@/lib/server/requests/read-request";
import { createJsonResponse } from "@/lib/server/requests/responses";
import { ok } from "@/lib/shared/result";

const schema = z.object({ state: runnerChangeSchema.shape.state.nonoptional() });

/** Requires no confirmation, because pausing, draining and resuming send no job to another address. */
export const PUT = consoleBodyRoute("setRunnerState", { role: "admin", needsSession: true }, schema, async (context, { state }) => {
  const result = await saveRunner(context.composition, (runners) => runners.change(getIdParam(context), { state }));
  if (!result.ok) return result;
  context.annotateAudit({ target: result.value.runner?.label, outcome: state });
  return ok(createJsonResponse(result.value));
});
