// Measures submissions and claims a second by a number of services on one database, with the same number of clients and the same runners.
import { spread } from "../figures";
import { type Load, load } from "../load";
import { post } from "../processes";
import { eachOf } from "../service/client";
import { type Cluster, haveRun, jobOf, type Runners } from "./services";

const CLIENTS = 20;

export const rateNames = ["submissions a second", "- p95 ms", "jobs claimed, run and ended a second"];

/** `jobs`: how many of the submitted jobs are claimed. */
export async function measureRates(cluster: Cluster, runners: Runners, jobs: number): Promise<string[]> {
  const { services, keys } = cluster;
  const wanted = Array.from({ length: jobs }, (_, at) => at % services.length);
  await eachOf(wanted, CLIENTS, async (at) => {
    await post(`${services[at]?.url}/api/prompt`, { prompt: jobOf("rate") }, { "x-api-key": keys[at] ?? "" });
  });
  const loads = await Promise.all(services.map((_, at) => submissionsTo(cluster, at, CLIENTS / services.length)));
  const runs = (loads[0] ?? []).map((_, run) => loads.flatMap((each) => each[run] ?? []));
  await cluster.resume();
  await haveRun(runners, jobs);
  const begun = runners.ran.slice(0, jobs).map((one) => one.begun);
  return [
    spread(
      runs.map((run) => run.reduce((sum, { perSecond }) => sum + perSecond, 0)),
      0,
    ),
    spread(runs.map((run) => Math.max(...run.map(({ p95 }) => p95)))),
    ((jobs / (Math.max(...begun) - Math.min(...begun))) * 1000).toFixed(0),
  ];
}

/** Each service is used by a user of its own. */
function submissionsTo({ services, keys }: Cluster, at: number, connections: number): Promise<Load[]> {
  const headers = { "x-api-key": keys[at] ?? "", "content-type": "application/json" };
  const body = JSON.stringify({ prompt: jobOf("rate") });
  return load({ url: `${services[at]?.url}/api/prompt`, method: "POST", headers, body }, connections);
}
