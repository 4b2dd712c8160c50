// The runners of the embedded service, for admins.

import "server-only";
import { runnerProblems } from "@/lib/contract/connections";
import { type ErrorCode, type Failure, refusal } from "@/lib/contract/failure";
import { type Runner, type RunnerFailure, type RunnerSaved, type ServiceRunners } from "@/lib/contract/runners/runners";
import { failed, ok, type Result } from "@/lib/shared/result";
import { type Parts } from "../composition-type";

const codes = {
  invalid: "INVALID_BODY",
  not_found: "NOT_FOUND",
  taken: "CONFLICT",
  built_in: "BAD_REQUEST",
} as const satisfies Partial<Record<RunnerFailure["code"], ErrorCode>>;

export async function listRunners({ serviceRunners }: Parts<"serviceRunners">): Promise<{ runners: Runner[] }> {
  return { runners: await serviceRunners().list() };
}

export async function saveRunner(
  { serviceRunners }: Parts<"serviceRunners">,
  save: (runners: ServiceRunners) => ReturnType<ServiceRunners["add"]>,
): Promise<Result<RunnerSaved, Failure>> {
  const saved = await save(serviceRunners());
  if (saved.ok) return ok({ runner: saved.value });
  const { code, message } = saved.failure;
  const problem = runnerProblems.find((runnerProblem) => runnerProblem === code);
  return problem ? ok({ problem: { code: problem, message } }) : failed(toFailure(saved.failure));
}

export async function removeRunner({ serviceRunners }: Parts<"serviceRunners">, id: string): Promise<Result<string, Failure>> {
  const runners = serviceRunners();
  const label = (await runners.list()).find((runner) => runner.id === id)?.label ?? id;
  const removed = await runners.remove(id);
  return removed.ok ? ok(label) : failed(toFailure(removed.failure));
}

function toFailure({ code, message }: RunnerFailure): Failure {
  const failureCode = Object.entries(codes).find(([theirs]) => theirs === code)?.[1] ?? "INTERNAL";
  return refusal(failureCode, message);
}
