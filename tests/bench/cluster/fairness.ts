// Measures jobs of many users on several services and all runners: lost and repeated jobs, the order between users, and the idle time
// of a runner between two jobs.
import { percentile } from "../figures";
import { post } from "../processes";
import { forEachConcurrently } from "../service/client";
import { getTotal } from "../service/job-lists";
import { createJsonGet } from "../service/json-client";
import { type CompletedRun } from "./runners";
import { type Cluster, createGraph, type Runners, waitForRuns } from "./services";

const MAX_CONCURRENT = 20;
/** Real jobs take seconds, so the services and the database do only a small part of the work. */
const JOB_MS = 250;
const LONG_JOB_COUNT = 400;

/** Name, target, figure. */
type Row = [string, string, string];

/** Submits all jobs before the first one is claimed. `jobs` is the total, divided equally among the users. */
export async function measureFairness(
  cluster: Cluster,
  runners: Runners,
  jobs: number,
  logProgress: (text: string) => void,
): Promise<Row[]> {
  const users = cluster.keys.length;
  logProgress(`  ${jobs} jobs of ${users} users: submitting`);
  await submitAll(cluster, 0, jobs / users);
  runners.setJobDuration(0);
  logProgress("  running the jobs");
  await cluster.resume();
  await waitForRuns(runners, jobs);
  const shortRuns = runners.runs.slice();
  const completed = await countCompleted(cluster, jobs);

  const runLongJobs = async (slots: number): Promise<CompletedRun[]> => {
    logProgress(`  ${LONG_JOB_COUNT} jobs of ${JOB_MS} ms, ${slots} at a time on each runner`);
    await cluster.pause();
    await cluster.setSlots(slots);
    const previousRuns = runners.runs.length;
    await submitAll(cluster, previousRuns / users, (previousRuns + LONG_JOB_COUNT) / users);
    runners.setJobDuration(JOB_MS);
    await cluster.resume();
    await waitForRuns(runners, previousRuns + LONG_JOB_COUNT);
    return runners.runs.slice(previousRuns);
  };
  const [oneSlot, twoSlots] = [await runLongJobs(1), await runLongJobs(2)];

  const startTimes = shortRuns.map((completedRun) => completedRun.startedMs);
  const seconds = (Math.max(...startTimes) - Math.min(...startTimes)) / 1000;
  return [
    ["acknowledged but not completed", "none", String(jobs - completed)],
    ["run twice", "none", String(shortRuns.length - new Set(shortRuns.map(({ job }) => job)).size)],
    ["largest lead of one user over another, jobs", "2", String(getLargestLead(shortRuns, users))],
    ["jobs per second that take no time", "", (jobs / seconds).toFixed(0)],
    [`idle time of a runner between jobs of ${JOB_MS} ms, p50 and p95`, "p95 20 ms", formatPercentiles(getIdleTimes(oneSlot))],
    ["- with two slots per runner, so that the next job is queued at the runner", "p95 20 ms", formatPercentiles(getIdleTimes(twoSlots))],
    ["- between jobs that take no time, with busy processors", "", formatPercentiles(getIdleTimes(shortRuns))],
  ];
}

/** Submits all jobs of the first user, then all of the second: the worst case for a first-in, first-out queue. */
async function submitAll({ services, keys }: Cluster, from: number, to: number): Promise<void> {
  const submissions = keys.flatMap((key, user) =>
    Array.from({ length: to - from }, (_, index) => ({
      key,
      name: `${user}/${from + index}`,
      service: services[(user + index) % services.length],
    })),
  );
  await forEachConcurrently(submissions, MAX_CONCURRENT, async ({ key, name, service }) => {
    await post(`${service?.url}/api/prompt`, { prompt: createGraph(name) }, { "x-api-key": key });
  });
}

/** Polls all services in turn, since the last outputs are still being stored when the last job has run. */
async function countCompleted({ services, keys }: Cluster, jobs: number): Promise<number> {
  const deadline = Date.now() + 60_000;
  for (;;) {
    let completed = 0;
    for (const [user, key] of keys.entries()) {
      const url = services[user % services.length]?.url ?? "";
      completed += await getTotal(createJsonGet({ url, headers: { "x-api-key": key } }), "/api/jobs?limit=1&status=completed");
    }
    if (completed >= jobs || Date.now() > deadline) return completed;
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
}

/** Returns the largest lead, in started jobs, that a user ever had over another. */
function getLargestLead(runs: readonly CompletedRun[], users: number): number {
  const startedJobs = Array.from({ length: users }, () => 0);
  let largestLead = 0;
  for (const { job } of runs.toSorted((completedRun, other) => completedRun.startedMs - other.startedMs)) {
    const user = Number(job.split("/")[0]);
    startedJobs[user] = (startedJobs[user] ?? 0) + 1;
    largestLead = Math.max(largestLead, (startedJobs[user] ?? 0) - Math.min(...startedJobs));
  }
  return largestLead;
}

function getIdleTimes(runs: readonly CompletedRun[]): number[] {
  const lastEnd = new Map<number, number>();
  const samples: number[] = [];
  for (const { runner, startedMs, endedMs } of runs.toSorted((completedRun, other) => completedRun.startedMs - other.startedMs)) {
    const previousEnd = lastEnd.get(runner);
    if (previousEnd !== undefined) samples.push(startedMs - previousEnd);
    lastEnd.set(runner, endedMs);
  }
  return samples;
}

const formatPercentiles = (ms: readonly number[]) => `${percentile(ms, 0.5).toFixed(1)} and ${percentile(ms, 0.95).toFixed(1)} ms`;
