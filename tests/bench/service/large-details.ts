// Measures the details of a running job of 5,000 nodes, polled as by a page that shows the job.
import { percentile } from "../figures";
import { getJson, type Graph, submitGraph, withService } from "./client";
import { type BenchRow } from "./row";

const NODE_COUNT = 5000;
const POLLS = 100;
const TARGET_MS = 40;

export function measureLargeDetails(): Promise<BenchRow[]> {
  return withService({}, async (service) => {
    const path = `/api/jobs/${await submitGraph(service, createLargeGraph())}`;
    while ((await getJson<{ status: string }>(service, path)).status === "pending");
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
        name: `details of a running job of ${NODE_COUNT} nodes, ${(bytes / 1e6).toFixed(1)} MB`,
        target: `under ${TARGET_MS} ms`,
        figure: `p95 ${p95.toFixed(1)} ms`,
        spread: `p50 ${percentile(times, 0.5).toFixed(1)}, highest ${Math.max(...times).toFixed(1)}`,
        meets: p95 < TARGET_MS,
      },
    ];
  });
}

/** The first node waits, so that the job is running during the measurement. */
function createLargeGraph(): Graph {
  const graph: Graph = { "1": { class_type: "Wait", inputs: { seconds: 3600, anything: "x" } } };
  for (let id = 2; id < NODE_COUNT; id += 1) {
    graph[id] = {
      class_type: "StringConcatenate",
      inputs: { string_a: [String(id - 1), 0], string_b: `part ${id} of a long text`, delimiter: " ", seed: id * 1_000_003 },
    };
  }
  graph[NODE_COUNT] = { class_type: "PreviewAny", inputs: { source: [String(NODE_COUNT - 1), 0] } };
  return graph;
}
