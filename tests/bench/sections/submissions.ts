import { formatTable } from "../figures";
import { formatLoadRuns } from "../format-load-runs";
import { measureLoad, type Target } from "../load";
import { graph, withDeskAndService } from "../many-jobs";
import { post } from "../processes";
import { type Section } from "../section";

const waitingGraph = {
  "1": { class_type: "Wait", inputs: { seconds: 3600 } },
  "2": { class_type: "PreviewAny", inputs: { source: ["1", 0] } },
};

export const submissions: Section = {
  name: "submissions",
  measure: (report) =>
    withDeskAndService(report, async ({ desk, service, connection }) => {
      const { print, logProgress } = report;
      // A waiting job occupies the only slot, so that only accepting is measured.
      await post(`${service.url}/api/prompt`, { prompt: waitingGraph }, service.headers);
      const json = { "content-type": "application/json" };
      const body = JSON.stringify({ prompt: graph });
      const targets: [string, Target][] = [
        ["directly", { url: `${service.url}/api/prompt`, headers: { ...service.headers, ...json }, method: "POST", body }],
        [
          "through the console",
          { url: `${desk.url}/api/prompt?connection=${connection}`, headers: { ...desk.headers, ...json }, method: "POST", body },
        ],
      ];
      const rows: string[][] = [];
      for (const connections of [1, 20]) {
        for (const [name, target] of targets) {
          logProgress(`Submissions ${name}, ${connections} at a time.`);
          rows.push([name, String(connections), ...formatLoadRuns(await measureLoad(target, connections))]);
        }
      }
      print("## Submissions, each on disk before the response");
      print(formatTable(["how", "connections", "p50 ms", "p95 ms", "submissions/s"], rows));
    }),
};
