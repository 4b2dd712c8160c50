// The details of a running job of 5,000 nodes, requested again and again as by a page that watches it.
import { percentile } from "../figures";
import { get, type Graph, submit, withService } from "./client";
import { type BenchRow } from "./row";

const NODES = 5000;
const POLLS = 100;
const BELOW_MS = 40;

export function measureLargeDetails(): Promise<BenchRow[]> {
  return withService({}, async (service) => {
    const path = `/api/jobs/${await submit(service, large())}`;
    while ((await get<{ status: string }>(service, path)).status === "pending");
    const times: number[] = [];
    let bytes = 0;
    for (let poll = 0; poll < POLLS; poll += 1) {
      const startedMs = performance.now();
      const response = await fetch(service.url + path, { headers: service.headers });
      bytes = (await response.arrayBuffer()).byteLength;
      times.push(performance.now() - startedMs);
    }
    const p95 = percentile(times, 0.95);
    return [
      {
        name: `details of a running job of ${NODES} nodes, ${(bytes / 1e6).toFixed(1)} MB`,
        target: `under ${BELOW_MS} ms`,
        figure: `p95 ${p95.toFixed(1)} ms`,
        spread: `p50 ${percentile(times, 0.5).toFixed(1)}, highest ${Math.max(...times).toFixed(1)}`,
        meets: p95 < BELOW_MS,
      },
    ];
  });
}

/** The first node waits, so that the job runs for as long as it is measured. */
function large(): Graph {
  const graph: Graph = { "1": { class_type: "Wait", inputs: { seconds: 3600, anything: "x" } } };
  for (let id = 2; id < NODES; id += 1) {
    graph[id] = {
      class_type: "StringConcatenate",
      inputs: { string_a: [String(id - 1), 0], string_b: `part ${id} of a long text`, delimiter: " ", seed: id * 1_000_003 },
    };
  }
  graph[NODES] = { class_type: "PreviewAny", inputs: { source: [String(NODES - 1), 0] } };
  return graph;
}
