// Measures acknowledged, durable submissions per second from 20 connections of one user. A waiting job occupies the only slot, so that
// only accepting is measured. Also reports the memory with all waiting jobs.
import { measureLoad } from "../load";
import { getQueueDepth, submitGraph, withService } from "./client";
import { createThirtyNodeGraph, waitingGraph } from "./graphs";
import { watchMemory } from "./memory";
import { type BenchRow, formatRuns, median } from "./row";

export function measureSubmissions(): Promise<BenchRow[]> {
  return withService({}, async (service) => {
    await submitGraph(service, waitingGraph);
    const memory = watchMemory(service.process.pid);
    const prompt = createThirtyNodeGraph();
    const headers = { ...service.headers, "content-type": "application/json" };
    const runs = await measureLoad({ url: `${service.url}/api/prompt`, headers, method: "POST", body: JSON.stringify({ prompt }) }, 20);
    const memoryMiB = memory.end() - memory.idle;
    const perSecond = runs.map((run) => run.perSecond);
    const depth = (await getQueueDepth(service)).toLocaleString("en");
    return [
      {
        name: `submissions of ${Object.keys(prompt).length} nodes, 20 connections, the only slot occupied`,
        target: "1,000 per second",
        ...formatRuns(perSecond, "per second", 0),
        meets: median(perSecond) >= 1000,
      },
      {
        name: "latency of these submissions",
        target: "",
        figure: `p95 ${median(runs.map((run) => run.p95)).toFixed(1)} ms`,
        spread: `p50 ${median(runs.map((run) => run.p50)).toFixed(1)} ms`,
        meets: true,
      },
      { name: `memory over idle with ${depth} pending jobs`, target: "", figure: `${memoryMiB.toFixed(0)} MiB`, spread: "", meets: true },
    ];
  });
}
