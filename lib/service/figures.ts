// Metrics and traces of the service. They never name a user or scan rows of jobs or files.

import { runnerStates } from "@/lib/contract/runners/runners";
import { createLru } from "@/lib/shared/lru";
import { freeBytes } from "@/lib/shared/readiness";
import { observe, telemetry } from "@/lib/shared/telemetry";
import { type RunEvent } from "./nodes/run";
import { readRunners, stateOf } from "./runners/store";
import { type Database, query } from "./store/database";

export function registerMetrics(database: Database, dataDir: string): void {
  const { metrics } = telemetry();
  const jobs = query
    .selectFrom("job_counts")
    .select(({ fn }) => ["state", fn.sum<number>("n").as("n")])
    .where("workflow_id", "=", "")
    .groupBy("state");
  const stored = query.selectFrom("user_storage").select(({ fn }) => fn.sum<number | null>("bytes").as("bytes"));
  // An empty queue is reported too.
  const none: readonly [string, number][] = [["pending", 0], ["in_progress", 0]]; // prettier-ignore
  metrics?.read(
    "lightdesk_jobs",
    async () => new Map([...none, ...(await database.rows(jobs)).map(({ state, n }) => [state, Number(n)] as const)]),
  );
  metrics?.read("lightdesk_runners", async () => {
    const states = (await readRunners(database)).map(stateOf);
    // An alert on a state needs its series before a runner is in it.
    return new Map(runnerStates.map((state) => [state, states.filter((value) => value === state).length]));
  });
  metrics?.read("lightdesk_stored_bytes", async () => Number((await database.row(stored))?.bytes ?? 0));
  metrics?.read("lightdesk_disk_free_bytes", () => freeBytes(dataDir));
}

/** For waiting jobs: the request that submitted them. A restart forgets it, and their runs are then traces of their own. */
const sentBy = createLru<string, string>({ max: 10_000 });

export function traceSubmission(jobId: string): void {
  const { traceparent } = telemetry().traces?.outgoingHeaders() ?? {};
  if (traceparent === undefined) return;
  sentBy.set(jobId, traceparent);
}

/** Only of the built-in runner: what others keep is theirs. */
export function countResult(event: RunEvent): void {
  if (event.kind === "node") telemetry().metrics?.count("lightdesk_node_results_total", { result: event.cached ? "kept" : "made" });
}

type EndedJob = { outcome: string };

export function observedRun<T extends EndedJob>({ jobId, attempt }: { jobId: string; attempt: number }, run: () => Promise<T>): Promise<T> {
  const parent = sentBy.get(jobId) ?? null;
  sentBy.delete(jobId);
  return observe(
    {
      spanName: "run job",
      parent,
      attributes: { "job.id": jobId, "job.attempt": attempt },
      outcomeOf: ({ outcome: how }) => how,
      recordMetrics(metrics, outcome, seconds) {
        metrics.count("lightdesk_job_runs_total", { outcome });
        metrics.observe("lightdesk_job_run_duration_seconds", {}, seconds);
      },
    },
    run,
  );
}
