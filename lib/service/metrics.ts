// Metrics and traces of the service. They contain no user names and scan no rows of jobs or files.

import { runnerStates } from "@/lib/contract/runners/runners";
import { createLru } from "@/lib/shared/lru";
import { getFreeBytes } from "@/lib/shared/readiness";
import { getTelemetry, observe } from "@/lib/shared/telemetry";
import { type RunEvent } from "./nodes/run";
import { getRunnerState, readRunners } from "./runners/store";
import { type Database, query } from "./store/database";

export function registerMetrics(database: Database, dataDir: string): void {
  const { metrics } = getTelemetry();
  const jobs = query
    .selectFrom("job_counts")
    .select(({ fn }) => ["state", fn.sum<number>("n").as("n")])
    .where("workflow_id", "=", "")
    .groupBy("state");
  const storedBytes = query.selectFrom("user_storage").select(({ fn }) => fn.sum<number | null>("bytes").as("bytes"));
  // Also reports an empty queue.
  const emptyCounts: readonly [string, number][] = [["pending", 0], ["in_progress", 0]]; // prettier-ignore
  metrics?.registerGauge(
    "lightdesk_jobs",
    async () => new Map([...emptyCounts, ...(await database.rows(jobs)).map(({ state, n }) => [state, Number(n)] as const)]),
  );
  metrics?.registerGauge("lightdesk_runners", async () => {
    const states = (await readRunners(database)).map(getRunnerState);
    // Alerts on a state need its series even if no runner is in that state.
    return new Map(runnerStates.map((state) => [state, states.filter((value) => value === state).length]));
  });
  metrics?.registerGauge("lightdesk_stored_bytes", async () => Number((await database.row(storedBytes))?.bytes ?? 0));
  metrics?.registerGauge("lightdesk_disk_free_bytes", () => getFreeBytes(dataDir));
}

/** The trace of the request that submitted each waiting job. After a restart, their runs are separate traces. */
const parentByJob = createLru<string, string>({ max: 10_000 });

export function traceSubmission(jobId: string): void {
  const { traceparent } = getTelemetry().traces?.getOutgoingHeaders() ?? {};
  if (traceparent === undefined) return;
  parentByJob.set(jobId, traceparent);
}

/** Only for the built-in runner, because other runners have their own caches. */
export function countNodeResult(event: RunEvent): void {
  if (event.kind === "node") getTelemetry().metrics?.count("lightdesk_node_results_total", { result: event.cached ? "kept" : "made" });
}

type EndedJob = { outcome: string };

export function observeRun<T extends EndedJob>({ jobId, attempt }: { jobId: string; attempt: number }, run: () => Promise<T>): Promise<T> {
  const parent = parentByJob.get(jobId) ?? null;
  parentByJob.delete(jobId);
  return observe(
    {
      spanName: "run job",
      parent,
      attributes: { "job.id": jobId, "job.attempt": attempt },
      getOutcome: ({ outcome }) => outcome,
      recordMetrics(metrics, outcome, seconds) {
        metrics.count("lightdesk_job_runs_total", { outcome });
        metrics.observe("lightdesk_job_run_duration_seconds", {}, seconds);
      },
    },
    run,
  );
}
