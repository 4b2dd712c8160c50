import { runnerChangeSchema } from "@/lib/contract/runners/runners";
import { consoleBodyRoute, consoleRoute } from "@/lib/server/bff/routes";
import { removeRunner, saveRunner } from "@/lib/server/queries/runners";
import { getIdParam } from "@/lib/server/requests/read-request";
import { createEmptyResponse, createJsonResponse } from "@/lib/server/requests/responses";
import { ok } from "@/lib/shared/result";

const schema = runnerChangeSchema.omit({ state: true });

export const PATCH = consoleBodyRoute("changeRunner", { role: "admin", needsRecentSignIn: true }, schema, async (context, body) => {
  const result = await saveRunner(context.composition, (runners) => runners.change(getIdParam(context), body));
  if (!result.ok) return result;
  const { runner, problem } = result.value;
  context.annotateAudit(
    problem ? { target: body.address, outcome: `${problem.code}, not saved` } : { target: runner.label, outcome: body.address },
  );
  return ok(createJsonResponse(result.value));
});

export const DELETE = consoleRoute("removeRunner", { role: "admin", needsRecentSignIn: true }, async (context) => {
  const result = await removeRunner(context.composition, getIdParam(context));
  if (!result.ok) return result;
  context.annotateAudit({ target: result.value });
  return ok(createEmptyResponse());
});
