// Measures jobs of many users on all runners by several services: how many are lost or run twice, how fair the order is, and how long a
// runner is idle between two jobs.
import { percentile } from "../figures";
import { post } from "../processes";
import { forEachConcurrently } from "../service/client";
import { getTotal } from "../service/job-lists";
import { createJsonGet } from "../service/json-client";
import { type CompletedRun } from "./runners";
import { type Cluster, createGraph, type Runners, waitForRuns } from "./services";

const MAX_CONCURRENT = 20;
/** A real job takes seconds; the work of services and database is then a small part of it. */
const JOB_MS = 250;
const LONG_JOBS = 400;

/** Name, target, figure. */
type Line = [string, string, string];

/** All jobs wait before the first one is claimed. `jobs`: the number over all users, the same for each. */
export async function measureFairness(
  cluster: Cluster,
  runners: Runners,
  jobs: number,
  logProgress: (text: string) => void,
): Promise<Line[]> {
  const users = cluster.keys.length;
  logProgress(`  ${jobs} jobs of ${users} users are submitted`);
  await submitAll(cluster, 0, jobs / users);
  runners.setJobDuration(0);
  logProgress("  they run");
  await cluster.resume();
  await waitForRuns(runners, jobs);
  const short = runners.runs.slice();
  const completed = await countCompleted(cluster, jobs);

  const longJobs = async (slots: number): Promise<CompletedRun[]> => {
    logProgress(`  ${LONG_JOBS} jobs of ${JOB_MS} ms, ${slots} at once on each runner`);
    await cluster.pause();
    await cluster.setSlots(slots);
    const before = runners.runs.length;
    await submitAll(cluster, before / users, (before + LONG_JOBS) / users);
    runners.setJobDuration(JOB_MS);
    await cluster.resume();
    await waitForRuns(runners, before + LONG_JOBS);
    return runners.runs.slice(before);
  };
  const [oneSlot, twoSlots] = [await longJobs(1), await longJobs(2)];

  const startTimes = short.map((completedRun) => completedRun.startedMs);
  const seconds = (Math.max(...startTimes) - Math.min(...startTimes)) / 1000;
  return [
    ["acknowledged and not completed", "none", String(jobs - completed)],
    ["run twice", "none", String(short.length - new Set(short.map(({ job }) => job)).size)],
    ["furthest that one user was ahead of another, jobs", "2", String(furthestAhead(short, users))],
    ["jobs a second that take no time", "", (jobs / seconds).toFixed(0)],
    [`from the end of a job to the next one on a runner, jobs of ${JOB_MS} ms, p50 and p95`, "p95 20 ms", percentiles(gaps(oneSlot))],
    ["- with two slots for each runner, so that the next job waits in its own queue", "p95 20 ms", percentiles(gaps(twoSlots))],
    ["- jobs that take no time, so that the processors are full", "", percentiles(gaps(short))],
  ];
}

/** All jobs of the first user, then all of the second: the worst case for a first-in, first-out queue. */
async function submitAll({ services, keys }: Cluster, from: number, to: number): Promise<void> {
  const submissions = keys.flatMap((key, user) =>
    Array.from({ length: to - from }, (_, at) => ({ key, name: `${user}/${from + at}`, service: services[(user + at) % services.length] })),
  );
  await forEachConcurrently(submissions, MAX_CONCURRENT, async ({ key, name, service }) => {
    await post(`${service?.url}/api/prompt`, { prompt: createGraph(name) }, { "x-api-key": key });
  });
}

/** Polls all services in turn, since the last outputs are still being stored when the last job has run. */
async function countCompleted({ services, keys }: Cluster, jobs: number): Promise<number> {
  const end = Date.now() + 60_000;
  for (;;) {
    let completed = 0;
    for (const [user, key] of keys.entries()) {
      const url = services[user % services.length]?.url ?? "";
      completed += await getTotal(createJsonGet({ url, headers: { "x-api-key": key } }), "/api/jobs?limit=1&status=completed");
    }
    if (completed >= jobs || Date.now() > end) return completed;
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
}

/** By the order in which jobs began: the largest lead that a user ever had over another, in jobs. */
function furthestAhead(runs: readonly CompletedRun[], users: number): number {
  const served = Array.from({ length: users }, () => 0);
  let furthest = 0;
  for (const { job } of runs.toSorted((completedRun, other) => completedRun.startedMs - other.startedMs)) {
    const user = Number(job.split("/")[0]);
    served[user] = (served[user] ?? 0) + 1;
    furthest = Math.max(furthest, (served[user] ?? 0) - Math.min(...served));
  }
  return furthest;
}

function gaps(runs: readonly CompletedRun[]): number[] {
  const lastEnd = new Map<number, number>();
  const samples: number[] = [];
  for (const { runner, startedMs, endedMs } of runs.toSorted((completedRun, other) => completedRun.startedMs - other.startedMs)) {
    const before = lastEnd.get(runner);
    if (before !== undefined) samples.push(startedMs - before);
    lastEnd.set(runner, endedMs);
  }
  return samples;
}

const percentiles = (ms: readonly number[]) => `${percentile(ms, 0.5).toFixed(1)} and ${percentile(ms, 0.95).toFixed(1)} ms`;
