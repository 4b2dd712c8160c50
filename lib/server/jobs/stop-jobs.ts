// Stops running jobs by id. Never interrupts while another job of the key runs, unless the server supports interrupts by id.

import "server-only";
import { hasFeature } from "@/lib/contract/connections";
import { type StopResult } from "@/lib/contract/console";
import { type Failure, isMissingOperation } from "@/lib/contract/failure";
import { isTerminalWord, toJobState } from "@/lib/contract/jobs/job-list";
import { operations } from "@/lib/contract/operations";
import { couldHaveStarted } from "@/lib/contract/workflow/submission";
import { failed, ok, type Result } from "@/lib/shared/result";
import { redactForBrowser } from "../answers/redact";
import { type Access } from "../connections/access";
import { type Upstream } from "../upstream/upstream";

const MAX_RUNNING = 1000;
/** `silent`: the service timed out. */
type Outcome = "stopped" | "stopping" | "over" | "not-alone" | "impossible" | "unsure" | "silent";

export async function stopJobs(access: Access, ids: readonly string[], signal?: AbortSignal): Promise<Result<StopResult, Failure>> {
  const query = { status: ["in_progress"], offset: 0, limit: MAX_RUNNING };
  const jobs = await access.upstream.call(operations.listJobs, { query, signal });
  if (!jobs.ok) return failed(redactForBrowser(jobs.failure, access));
  const running = new Set(jobs.value.jobs.map((job) => job.id));
  const result: StopResult = { stopped: [], stopping: [], over: ids.filter((id) => !running.has(id)), unable: [], together: 0 };
  let isUnresponsive = false;
  for (const id of ids.filter((value) => running.has(value))) {
    if (isUnresponsive) {
      result.unable.push(id);
      continue;
    }
    const outcome = await stop(access, id, running.size, signal);
    if (!outcome.ok && couldHaveStarted(outcome.failure)) {
      result.unsure = [...(result.unsure ?? []), id];
      // Stopping the others would time out too.
      isUnresponsive = outcome.failure.code === "UPSTREAM_TIMEOUT";
      continue;
    }
    // Report jobs that were already stopped, even if this one failed.
    if (!outcome.ok && result.stopped.length + result.stopping.length === 0) return failed(redactForBrowser(outcome.failure, access));
    const finalOutcome = outcome.ok ? outcome.value : "impossible";
    isUnresponsive = finalOutcome === "silent";
    if (finalOutcome === "unsure" || finalOutcome === "silent") result.unsure = [...(result.unsure ?? []), id];
    else if (finalOutcome === "stopped" || finalOutcome === "stopping" || finalOutcome === "over") result[finalOutcome].push(id);
    else result.unable.push(id);
    if (finalOutcome === "not-alone") result.together = running.size;
    if (finalOutcome === "stopped" || finalOutcome === "over") running.delete(id);
  }
  return ok(result);
}

async function stop(
  { upstream, connection, composition }: Access,
  id: string,
  runningCount: number,
  signal?: AbortSignal,
): Promise<Result<Outcome, Failure>> {
  const cancelled = await upstream.call(operations.cancelJob, { params: { job_id: id }, signal });
  if (cancelled.ok) return ok(cancelled.value.cancelled === false ? "over" : "stopped");
  if (!isMissingOperation(cancelled.failure)) {
    if (cancelled.failure.status !== 404) return cancelled;
    const state = await stateAfterStop(upstream, id, signal);
    if (state !== "running") return ok(state);
  }
  if (composition.capabilities.get(connection.id, "interrupt") === false) return ok("impossible");
  if (runningCount > 1 && !hasFeature(connection, "interruptById")) return ok("not-alone");
  const result = await upstream.call(operations.interrupt, { json: { prompt_id: id }, signal });
  if (result.ok) return ok("stopping");
  if (isMissingOperation(result.failure)) return ok("impossible");
  const state = result.failure.status === 404 ? await stateAfterStop(upstream, id, signal) : "running";
  return state === "running" ? result : ok(state);
}

/** The state of a job that may not have stopped. Unknown during an outage. A job that is being cancelled is not interrupted as well. */
async function stateAfterStop(
  upstream: Upstream,
  id: string,
  signal?: AbortSignal,
): Promise<"over" | "stopping" | "running" | "unsure" | "silent"> {
  const job = await upstream.call(operations.getJob, { params: { job_id: id }, signal });
  if (!job.ok) {
    if (job.failure.code === "UPSTREAM_TIMEOUT") return "silent";
    return job.failure.status === 404 && job.failure.code !== "UPSTREAM_NOT_FOUND" ? "over" : "unsure";
  }
  if (isTerminalWord(job.value.status)) return "over";
  const state = toJobState(job.value.status);
  return state === "cancelled" ? "stopping" : state === "in_progress" ? "running" : "unsure";
}
