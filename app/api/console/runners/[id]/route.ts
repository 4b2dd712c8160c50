import { runnerChangeSchema } from "@/lib/contract/runners/runners";
import { consoleBodyRoute, consoleRoute } from "@/lib/server/bff/routes";
import { removeRunner, saveRunner } from "@/lib/server/queries/runners";
import { getIdParam } from "@/lib/server/requests/read-request";
import { emptyResponse, jsonResponse } from "@/lib/server/requests/responses";
import { ok } from "@/lib/shared/result";

const schema = runnerChangeSchema.omit({ state: true });

export const PATCH = consoleBodyRoute("changeRunner", { role: "admin", recent: true }, schema, async (context, body) => {
  const result = await saveRunner(context.composition, (runners) => runners.change(getIdParam(context), body));
  if (!result.ok) return result;
  const { runner, problem } = result.value;
  context.annotateAudit(
    problem ? { target: body.address, outcome: `${problem.code}, not saved` } : { target: runner.label, outcome: body.address },
  );
  return ok(jsonResponse(result.value));
});

export const DELETE = consoleRoute("removeRunner", { role: "admin", recent: true }, async (context) => {
  const removed = await removeRunner(context.composition, getIdParam(context));
  if (!removed.ok) return removed;
  context.annotateAudit({ target: removed.value });
  return ok(emptyResponse());
});
