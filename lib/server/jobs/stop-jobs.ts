// Stops running jobs by id. Never interrupts while the API key has another running job, unless the server supports interrupts by id.

import "server-only";
import { hasFeature } from "@/lib/contract/connections";
import { type StopResult } from "@/lib/contract/console";
import { type Failure, isMissingOperation } from "@/lib/contract/failure";
import { isTerminalStatus, toJobState } from "@/lib/contract/jobs/job-list";
import { operations } from "@/lib/contract/operations";
import { couldHaveStarted } from "@/lib/contract/workflow/submission";
import { failed, ok, type Result } from "@/lib/shared/result";
import { type Access } from "../connections/access";
import { redactForBrowser } from "../responses/redact";
import { type Upstream } from "../upstream/upstream";

const MAX_RUNNING_JOBS = 1000;
/** `over`: the job had already ended. */
type Outcome = "stopped" | "stopping" | "over" | "not-alone" | "impossible" | "unsure" | "timed-out";

export async function stopJobs(access: Access, ids: readonly string[], signal?: AbortSignal): Promise<Result<StopResult, Failure>> {
  const query = { status: ["in_progress"], offset: 0, limit: MAX_RUNNING_JOBS };
  const jobs = await access.upstream.call(operations.listJobs, { query, signal });
  if (!jobs.ok) return failed(redactForBrowser(jobs.failure, access));
  const runningIds = new Set(jobs.value.jobs.map((job) => job.id));
  const result: StopResult = { stopped: [], stopping: [], over: ids.filter((id) => !runningIds.has(id)), unable: [], together: 0 };
  let isUnresponsive = false;
  for (const id of ids.filter((jobId) => runningIds.has(jobId))) {
    if (isUnresponsive) {
      result.unable.push(id);
      continue;
    }
    const outcome = await stopJob(access, id, runningIds.size, signal);
    if (!outcome.ok && couldHaveStarted(outcome.failure)) {
      result.unsure = [...(result.unsure ?? []), id];
      // Stopping the others would time out too.
      isUnresponsive = outcome.failure.code === "UPSTREAM_TIMEOUT";
      continue;
    }
    // Report jobs that were already stopped, even if this one failed.
    if (!outcome.ok && result.stopped.length + result.stopping.length === 0) return failed(redactForBrowser(outcome.failure, access));
    const finalOutcome = outcome.ok ? outcome.value : "impossible";
    isUnresponsive = finalOutcome === "timed-out";
    if (finalOutcome === "unsure" || finalOutcome === "timed-out") result.unsure = [...(result.unsure ?? []), id];
    else if (finalOutcome === "stopped" || finalOutcome === "stopping" || finalOutcome === "over") result[finalOutcome].push(id);
    else result.unable.push(id);
    if (finalOutcome === "not-alone") result.together = runningIds.size;
    if (finalOutcome === "stopped" || finalOutcome === "over") runningIds.delete(id);
  }
  return ok(result);
}

async function stopJob(
  { upstream, connection, composition }: Access,
  id: string,
  runningCount: number,
  signal?: AbortSignal,
): Promise<Result<Outcome, Failure>> {
  const cancelResult = await upstream.call(operations.cancelJob, { params: { job_id: id }, signal });
  if (cancelResult.ok) return ok(cancelResult.value.cancelled === false ? "over" : "stopped");
  if (!isMissingOperation(cancelResult.failure)) {
    if (cancelResult.failure.status !== 404) return cancelResult;
    const state = await findStateAfterStop(upstream, id, signal);
    if (state !== "running") return ok(state);
  }
  if (composition.capabilities.get(connection.id, "interrupt") === false) return ok("impossible");
  if (runningCount > 1 && !hasFeature(connection, "interruptById")) return ok("not-alone");
  const result = await upstream.call(operations.interrupt, { json: { prompt_id: id }, signal });
  if (result.ok) return ok("stopping");
  if (isMissingOperation(result.failure)) return ok("impossible");
  const state = result.failure.status === 404 ? await findStateAfterStop(upstream, id, signal) : "running";
  return state === "running" ? result : ok(state);
}

/** Returns the state of a job that may not have stopped. A job that is being cancelled is not interrupted as well. */
async function findStateAfterStop(
  upstream: Upstream,
  id: string,
  signal?: AbortSignal,
): Promise<"over" | "stopping" | "running" | "unsure" | "timed-out"> {
  const job = await upstream.call(operations.getJob, { params: { job_id: id }, signal });
  if (!job.ok) {
    if (job.failure.code === "UPSTREAM_TIMEOUT") return "timed-out";
    return job.failure.status === 404 && job.failure.code !== "UPSTREAM_NOT_FOUND" ? "over" : "unsure";
  }
  if (isTerminalStatus(job.value.status)) return "over";
  const state = toJobState(job.value.status);
  return state === "cancelled" ? "stopping" : state === "in_progress" ? "running" : "unsure";
}
