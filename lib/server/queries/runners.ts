// The runners of the embedded service, for admins.

import "server-only";
import { runnerProblems } from "@/lib/contract/connections";
import { createFailure, type ErrorCode, type Failure } from "@/lib/contract/failure";
import { type Runner, type RunnerFailure, type RunnerSaved, type ServiceRunners } from "@/lib/contract/runners/runners";
import { failed, ok, type Result } from "@/lib/shared/result";
import { type Dependencies } from "../composition-type";

const errorCodes = {
  invalid: "INVALID_BODY",
  not_found: "NOT_FOUND",
  taken: "CONFLICT",
  built_in: "BAD_REQUEST",
} as const satisfies Partial<Record<RunnerFailure["code"], ErrorCode>>;

export async function listRunners({ serviceRunners }: Dependencies<"serviceRunners">): Promise<{ runners: Runner[] }> {
  return { runners: await serviceRunners().list() };
}

export async function saveRunner(
  { serviceRunners }: Dependencies<"serviceRunners">,
  save: (runners: ServiceRunners) => ReturnType<ServiceRunners["add"]>,
): Promise<Result<RunnerSaved, Failure>> {
  const result = await save(serviceRunners());
  if (result.ok) return ok({ runner: result.value });
  const { code, message } = result.failure;
  const problem = runnerProblems.find((runnerProblem) => runnerProblem === code);
  return problem ? ok({ problem: { code: problem, message } }) : failed(toFailure(result.failure));
}

export async function removeRunner({ serviceRunners }: Dependencies<"serviceRunners">, id: string): Promise<Result<string, Failure>> {
  const runners = serviceRunners();
  const label = (await runners.list()).find((runner) => runner.id === id)?.label ?? id;
  const result = await runners.remove(id);
  return result.ok ? ok(label) : failed(toFailure(result.failure));
}

function toFailure({ code, message }: RunnerFailure): Failure {
  const failureCode = Object.entries(errorCodes).find(([runnerCode]) => runnerCode === code)?.[1] ?? "INTERNAL";
  return createFailure(failureCode, message);
}
