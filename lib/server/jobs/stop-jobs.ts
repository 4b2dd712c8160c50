// Stops running jobs by id. Never interrupts while another job of the key runs, unless the server respects the id.

import "server-only";
import { hasFeature } from "@/lib/contract/connections";
import { type StopReceipt } from "@/lib/contract/console";
import { type Failure, lacksOperation } from "@/lib/contract/failure";
import { isTerminalWord, toJobState } from "@/lib/contract/jobs/job-list";
import { operations } from "@/lib/contract/operations";
import { mayHaveStarted } from "@/lib/contract/workflow/submission";
import { failed, ok, type Result } from "@/lib/shared/result";
import { redactForBrowser } from "../answers/redact";
import { type Access } from "../connections/access";
import { type Upstream } from "../upstream/upstream";

const MAX_RUNNING = 1000;
/** `silent`: unsure, because the service did not answer for long. */
type Outcome = "stopped" | "stopping" | "over" | "not-alone" | "impossible" | "unsure" | "silent";

export async function stopJobs(access: Access, ids: readonly string[], signal?: AbortSignal): Promise<Result<StopReceipt, Failure>> {
  const query = { status: ["in_progress"], offset: 0, limit: MAX_RUNNING };
  const jobs = await access.upstream.call(operations.listJobs, { query, signal });
  if (!jobs.ok) return failed(redactForBrowser(jobs.failure, access));
  const running = new Set(jobs.value.jobs.map((job) => job.id));
  const receipt: StopReceipt = { stopped: [], stopping: [], over: ids.filter((id) => !running.has(id)), unable: [], together: 0 };
  let isSilent = false;
  for (const id of ids.filter((one) => running.has(one))) {
    if (isSilent) {
      receipt.unable.push(id);
      continue;
    }
    const outcome = await stop(access, id, running.size, signal);
    if (!outcome.ok && mayHaveStarted(outcome.failure)) {
      receipt.unsure = [...(receipt.unsure ?? []), id];
      // The others would wait just as long for nothing.
      isSilent = outcome.failure.code === "UPSTREAM_TIMEOUT";
      continue;
    }
    // Jobs stopped before this one must be reported; the rest is unchanged.
    if (!outcome.ok && receipt.stopped.length + receipt.stopping.length === 0) return failed(redactForBrowser(outcome.failure, access));
    const became = outcome.ok ? outcome.value : "impossible";
    isSilent = became === "silent";
    if (became === "unsure" || became === "silent") receipt.unsure = [...(receipt.unsure ?? []), id];
    else if (became === "stopped" || became === "stopping" || became === "over") receipt[became].push(id);
    else receipt.unable.push(id);
    if (became === "not-alone") receipt.together = running.size;
    if (became === "stopped" || became === "over") running.delete(id);
  }
  return ok(receipt);
}

async function stop(
  { upstream, connection, composition }: Access,
  id: string,
  howMany: number,
  signal?: AbortSignal,
): Promise<Result<Outcome, Failure>> {
  const cancelled = await upstream.call(operations.cancelJob, { params: { job_id: id }, signal });
  if (cancelled.ok) return ok(cancelled.value.cancelled === false ? "over" : "stopped");
  if (!lacksOperation(cancelled.failure)) {
    if (cancelled.failure.status !== 404) return cancelled;
    const now = await whatBecameOf(upstream, id, signal);
    if (now !== "running") return ok(now);
  }
  if (composition.capabilities.knows(connection.id, "interrupt") === false) return ok("impossible");
  if (howMany > 1 && !hasFeature(connection, "interruptById")) return ok("not-alone");
  const answer = await upstream.call(operations.interrupt, { json: { prompt_id: id }, signal });
  if (answer.ok) return ok("stopping");
  if (lacksOperation(answer.failure)) return ok("impossible");
  const now = answer.failure.status === 404 ? await whatBecameOf(upstream, id, signal) : "running";
  return now === "running" ? answer : ok(now);
}

/** The state of a job that did not prove to be stopped. An outage says nothing about it; a job being cancelled is not interrupted too. */
async function whatBecameOf(
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
