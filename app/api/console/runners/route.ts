import { newRunnerSchema } from "@/lib/contract/runners/runners";
import { consoleBodyRoute, consoleRoute } from "@/lib/server/bff/routes";
import { listRunners, saveRunner } from "@/lib/server/queries/runners";
import { createJsonResponse } from "@/lib/server/requests/responses";
import { ok } from "@/lib/shared/result";

export const GET = consoleRoute("listRunners", "admin", async ({ composition }) => ok(createJsonResponse(await listRunners(composition))));

export const POST = consoleBodyRoute(
  "addRunner",
  { role: "admin", needsRecentSignIn: true },
  newRunnerSchema,
  async ({ annotateAudit, composition }, body) => {
    annotateAudit({ target: body.label ?? body.address });
    const result = await saveRunner(composition, (runners) => runners.add(body));
    if (!result.ok) return result;
    const { runner, problem } = result.value;
    // Without a runner, nothing was added and the address was only checked.
    if (problem) annotateAudit({ action: "checkRunner", target: body.address, outcome: `${problem.code}, not saved` });
    else annotateAudit({ target: runner.label, outcome: body.address });
    return ok(createJsonResponse(result.value, runner ? 201 : 200));
  },
);
