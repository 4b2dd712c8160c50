// Expected durations of running and waiting jobs, from the job index. Estimates come from earlier runs of the same workflow on the same runner.

import "server-only";
import { createHash } from "node:crypto";
import { type ExpectedRun } from "@/lib/contract/jobs/expected-run";
import { toJobState } from "@/lib/contract/jobs/job-list";
import { writeExactJson } from "@/lib/contract/json/exact-json";
import { asObject, asText, isObject } from "@/lib/contract/json/json";
import { type Operation } from "@/lib/contract/operation";
import { getShape, isLink, isSeedName } from "@/lib/contract/workflow/graph";
import { createLru } from "@/lib/shared/lru";
import { type JobUpdate } from "../store/jobs/index-entry";
import { type Store } from "../store/store";

/** The newest runs on one runner. */
const MAX_RUNS = 20;
const MAX_KEYS = 10_000;
const MAX_KEY_LENGTH = 22;

/** Inputs whose values affect the duration of a run. */
const COST_INPUT_PATTERN =
  /(^|_)(steps?|width|height|size|batch|frames?|length|duration|seconds|fps|megapixels|amount|count|resolution|iterations|repeats?|denoise|sampler|ckpt|unet|model)(_|$)|^(up)?scale/i;

/** Returns the same key for graphs with the same classes, links and duration-related inputs, or undefined if there is no graph. */
export function createRunKey(graph: unknown): string | undefined {
  if (!isObject(graph)) return undefined;
  const inputs = Object.values(graph).flatMap((node) => Object.entries(asObject(asObject(node)?.inputs) ?? {}));
  // A separate node may set the size.
  const sourceIds = new Set(inputs.flatMap(([name, value]) => (COST_INPUT_PATTERN.test(name) && isLink(value) ? [value[0]] : [])));
  const shape = getShape(graph, (nodeId, name, value) => {
    if (isLink(value)) return true;
    if (typeof value === "number" && sourceIds.has(nodeId)) return !isSeedName(name);
    return (typeof value === "number" || typeof value === "string") && COST_INPUT_PATTERN.test(name);
  });
  return createHash("sha256").update(writeExactJson(shape)).digest("base64url").slice(0, MAX_KEY_LENGTH);
}

export type RunKeys = ReturnType<typeof createRunKeyCache>;

/** Keys of jobs whose graphs passed through this process. The job index stores them for longer. */
export function createRunKeyCache() {
  const keys = createLru<string, string>({ max: MAX_KEYS });
  const toCacheKey = (connectionId: string, jobId: string) => `${connectionId}\n${jobId}`;
  function recordGraph(connectionId: string, jobId: string | undefined, graph: unknown): void {
    if (jobId === undefined || keys.has(toCacheKey(connectionId, jobId))) return;
    const key = createRunKey(graph);
    if (key !== undefined) keys.set(toCacheKey(connectionId, jobId), key);
  }
  const find = (connectionId: string, jobId: string) => keys.get(toCacheKey(connectionId, jobId));
  return {
    find,
    recordGraph,
    /** Records the graph of a submission or of a job's details. */
    record({ subject }: Operation, connectionId: string, value: unknown, body: unknown): void {
      const response = asObject(value);
      if (subject === "submission") recordGraph(connectionId, asText(response?.prompt_id), asObject(body)?.prompt);
      if (subject === "job") recordGraph(connectionId, asText(response?.id), asObject(response?.workflow)?.prompt);
    },
    addRunKeys(connectionId: string, updates: readonly JobUpdate[]): JobUpdate[] {
      return updates.map((update) => ({ ...update, runKey: find(connectionId, update.jobId) }));
    },
  };
}

/** Returns expected runs by job id. Jobs without earlier runs are omitted. A job without a runner is compared with runs on all runners. */
export async function findExpectedRuns(
  { store, runKeys }: { store: Pick<Store, "jobIndexStore">; runKeys: Pick<RunKeys, "find"> },
  connectionId: string,
  jobs: readonly unknown[],
): Promise<Map<string, ExpectedRun>> {
  const activeJobs = jobs.flatMap((job) => {
    const { id, status, runner_id: runner, workflow_id: workflowId } = asObject(job) ?? {};
    const jobId = asText(id);
    if (jobId === undefined || !["pending", "in_progress"].includes(toJobState(asText(status) ?? ""))) return [];
    return [{ jobId, runner: asText(runner), runKey: runKeys.find(connectionId, jobId), workflowId: asText(workflowId) }];
  });
  if (activeJobs.length === 0) return new Map();
  const runsByJob = await store.jobIndexStore.listEarlierRuns(connectionId, activeJobs);
  return new Map(
    activeJobs.flatMap(({ jobId, runner }) => {
      const expectedRuns = (runsByJob.get(jobId) ?? []).map((earlierRuns) => {
        const runs = earlierRuns.filter((run) => runner === undefined || run.runner === runner);
        return toExpectedRun(runs.slice(0, MAX_RUNS).map(({ runMs }) => runMs));
      });
      const expectedRun = expectedRuns.find((run) => run !== undefined);
      return expectedRun ? [[jobId, expectedRun]] : [];
    }),
  );
}

const MIN_RUNS = 2;
const MIN_RUNS_FOR_QUARTILES = 4;
const MIN_RUNS_FOR_P95 = 20;
/** Runs shorter than this fraction of the 90th percentile are treated as cache hits. */
const CACHE_HIT_RATIO = 0.1;
const LATE_FACTOR = 1.2;
/** Minimum lateness, because even short runs vary. */
const MIN_LATE_MS = 1_000;

/** Undefined for fewer than two runs. */
export function toExpectedRun(runsMs: readonly number[]): ExpectedRun | undefined {
  const sortedMs = runsMs.toSorted((ms, other) => ms - other);
  const p90Ms = quantile(sortedMs, 0.9);
  const runs = sortedMs.filter((ms) => ms >= p90Ms * CACHE_HIT_RATIO);
  if (runs.length < MIN_RUNS) return undefined;
  const hasQuartiles = runs.length >= MIN_RUNS_FOR_QUARTILES;
  const [low_ms, high_ms] = [quantile(runs, hasQuartiles ? 0.25 : 0), quantile(runs, hasQuartiles ? 0.75 : 1)];
  const lateMs = runs.length >= MIN_RUNS_FOR_P95 ? quantile(runs, 0.95) : quantile(runs, 1) * LATE_FACTOR;
  return { low_ms, median_ms: quantile(runs, 0.5), high_ms, late_ms: Math.round(Math.max(lateMs, high_ms + MIN_LATE_MS)) };
}

/** Interpolates between the two nearest of the sorted values. */
function quantile(sortedValues: readonly number[], fraction: number): number {
  const position = (sortedValues.length - 1) * fraction;
  const [lower = 0, upper = lower] = [sortedValues[Math.floor(position)], sortedValues[Math.ceil(position)]];
  return Math.round(lower + (upper - lower) * (position - Math.floor(position)));
}
