import { formatTable } from "../figures";
import { formatLoadRuns } from "../format-load-runs";
import { measureLoad } from "../load";
import { MANY_JOBS, withDeskAndService } from "../many-jobs";
import { startBareProxy } from "../processes";
import { type Section } from "../section";
import { getResidentMiB } from "../service/memory";

export const calls: Section = {
  name: "calls",
  measure: (report) =>
    withDeskAndService(report, async ({ desk, service, connection }) => {
      const { print, logProgress } = report;
      const directTarget = { url: `${service.url}/api/jobs?limit=50`, headers: service.headers };
      const consoleTarget = { url: `${desk.url}/api/jobs?limit=50&connection=${connection}`, headers: desk.headers };
      const proxy = await startBareProxy(service.url);
      const rows: string[][] = [];
      for (const connections of [1, 20]) {
        for (const [name, target] of [
          ["directly", directTarget],
          ["through a bare proxy", { ...directTarget, url: directTarget.url.replace(service.url, proxy.url) }],
          ["through the console", consoleTarget],
        ] as const) {
          logProgress(`GET /api/jobs ${name}, ${connections} at a time.`);
          rows.push([name, String(connections), ...formatLoadRuns(await measureLoad(target, connections))]);
        }
      }
      await proxy.process.stop();
      print(`## GET /api/jobs?limit=50 at ${MANY_JOBS.toLocaleString("en")} jobs`);
      print(formatTable(["how", "connections", "p50 ms", "p95 ms", "requests/s"], rows));
      print(`Memory of the console after the load: ${getResidentMiB(desk.process.pid).toFixed(0)} MiB.`);
    }),
};
