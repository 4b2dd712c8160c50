import { table } from "../figures";
import { latencies } from "../latencies";
import { load } from "../load";
import { besideService, MANY_JOBS } from "../many-jobs";
import { startBareProxy } from "../processes";
import { type Section } from "../section";

export const calls: Section = {
  name: "calls",
  measure: (report) =>
    besideService(report, async ({ desk, service, connection }) => {
      const { print, logProgress } = report;
      const direct = { url: `${service.url}/api/jobs?limit=50`, headers: service.headers };
      const through = { url: `${desk.url}/api/jobs?limit=50&connection=${connection}`, headers: desk.headers };
      const proxy = await startBareProxy(service.url);
      const rows: string[][] = [];
      for (const connections of [1, 20]) {
        for (const [name, target] of [
          ["directly", direct],
          ["through a bare proxy", { ...direct, url: direct.url.replace(service.url, proxy.url) }],
          ["through the console", through],
        ] as const) {
          logProgress(`GET /api/jobs ${name}, ${connections} at a time.`);
          rows.push([name, String(connections), ...latencies(await load(target, connections))]);
        }
      }
      await proxy.process.stop();
      print(`## GET /api/jobs?limit=50 at ${MANY_JOBS.toLocaleString("en")} jobs`);
      print(table(["how", "connections", "p50 ms", "p95 ms", "requests/s"], rows));
    }),
};
