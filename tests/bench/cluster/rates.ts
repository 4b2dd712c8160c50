// Measures submissions and claims per second of several services on one database. The numbers of clients and runners are fixed.
import { formatSpread } from "../figures";
import { type Load, measureLoad } from "../load";
import { post } from "../processes";
import { forEachConcurrently } from "../service/client";
import { type Cluster, createGraph, type Runners, waitForRuns } from "./services";

const CLIENTS = 20;

export const rateNames = ["submissions per second", "- p95 ms", "jobs claimed and run per second"];

/** `jobs`: the number of submitted jobs that the claim rate is measured with. */
export async function measureRates(cluster: Cluster, runners: Runners, jobs: number): Promise<string[]> {
  const { services, keys } = cluster;
  const serviceIndexes = Array.from({ length: jobs }, (_, index) => index % services.length);
  await forEachConcurrently(serviceIndexes, CLIENTS, async (serviceIndex) => {
    await post(`${services[serviceIndex]?.url}/api/prompt`, { prompt: createGraph("rate") }, { "x-api-key": keys[serviceIndex] ?? "" });
  });
  const loads = await Promise.all(services.map((_, index) => measureSubmissions(cluster, index, CLIENTS / services.length)));
  const runs = (loads[0] ?? []).map((_, run) => loads.flatMap((serviceRuns) => serviceRuns[run] ?? []));
  await cluster.resume();
  await waitForRuns(runners, jobs);
  const startTimes = runners.runs.slice(0, jobs).map((run) => run.startedMs);
  return [
    formatSpread(
      runs.map((run) => run.reduce((sum, { perSecond }) => sum + perSecond, 0)),
      0,
    ),
    formatSpread(runs.map((run) => Math.max(...run.map(({ p95 }) => p95)))),
    ((jobs / (Math.max(...startTimes) - Math.min(...startTimes))) * 1000).toFixed(0),
  ];
}

/** Submits to one service as the user of that service. */
function measureSubmissions({ services, keys }: Cluster, serviceIndex: number, connections: number): Promise<Load[]> {
  const headers = { "x-api-key": keys[serviceIndex] ?? "", "content-type": "application/json" };
  const body = JSON.stringify({ prompt: createGraph("rate") });
  return measureLoad({ url: `${services[serviceIndex]?.url}/api/prompt`, method: "POST", headers, body }, connections);
}
