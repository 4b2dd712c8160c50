// Measures submissions and claims per second of several services on one database. Clients and runners are the same for any number.
import { spread } from "../figures";
import { type Load, load } from "../load";
import { post } from "../processes";
import { forEachConcurrently } from "../service/client";
import { type Cluster, createGraph, type Runners, waitForRuns } from "./services";

const CLIENTS = 20;

export const rateNames = ["submissions per second", "- p95 ms", "jobs claimed and run per second"];

/** `jobs`: how many submitted jobs the claim rate is measured with. */
export async function measureRates(cluster: Cluster, runners: Runners, jobs: number): Promise<string[]> {
  const { services, keys } = cluster;
  const serviceIndexes = Array.from({ length: jobs }, (_, at) => at % services.length);
  await forEachConcurrently(serviceIndexes, CLIENTS, async (at) => {
    await post(`${services[at]?.url}/api/prompt`, { prompt: createGraph("rate") }, { "x-api-key": keys[at] ?? "" });
  });
  const loads = await Promise.all(services.map((_, at) => measureSubmissions(cluster, at, CLIENTS / services.length)));
  const runs = (loads[0] ?? []).map((_, run) => loads.flatMap((each) => each[run] ?? []));
  await cluster.resume();
  await waitForRuns(runners, jobs);
  const startTimes = runners.runs.slice(0, jobs).map((run) => run.startedMs);
  return [
    spread(
      runs.map((run) => run.reduce((sum, { perSecond }) => sum + perSecond, 0)),
      0,
    ),
    spread(runs.map((run) => Math.max(...run.map(({ p95 }) => p95)))),
    ((jobs / (Math.max(...startTimes) - Math.min(...startTimes))) * 1000).toFixed(0),
  ];
}

/** Each service has its own user. */
function measureSubmissions({ services, keys }: Cluster, at: number, connections: number): Promise<Load[]> {
  const headers = { "x-api-key": keys[at] ?? "", "content-type": "application/json" };
  const body = JSON.stringify({ prompt: createGraph("rate") });
  return load({ url: `${services[at]?.url}/api/prompt`, method: "POST", headers, body }, connections);
}
