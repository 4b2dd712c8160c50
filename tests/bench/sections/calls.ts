import { table } from "../figures";
import { latencies } from "../latencies";
import { load } from "../load";
import { besideService, MANY_JOBS } from "../many-jobs";
import { type Section } from "../section";

export const calls: Section = {
  name: "calls",
  measure: (report) =>
    besideService(report, async ({ desk, service, connection }) => {
      const { print, tell } = report;
      const direct = { url: `${service.url}/api/jobs?limit=50`, headers: service.headers };
      const through = { url: `${desk.url}/api/jobs?limit=50&connection=${connection}`, headers: desk.headers };
      const rows: string[][] = [];
      for (const connections of [1, 20]) {
        for (const [name, target] of [
          ["directly", direct],
          ["through the console", through],
        ] as const) {
          tell(`GET /api/jobs ${name}, ${connections} at a time.`);
          rows.push([name, String(connections), ...latencies(await load(target, connections))]);
        }
      }
      print(`## GET /api/jobs?limit=50 at ${MANY_JOBS.toLocaleString("en")} jobs`);
      print(table(["how", "connections", "p50 ms", "p95 ms", "requests/s"], rows));
    }),
};
