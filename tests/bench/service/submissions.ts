// Acknowledged submissions per second, each durable: autocannon, 20 connections, one user.
// A waiting job takes the one slot, so that accepting is measured and not running. The memory with all waiting jobs is reported too.
import { load } from "../load";
import { queueDepth, submit, withService } from "./client";
import { thirtyNodes, waiting } from "./graphs";
import { watchMemory } from "./memory";
import { type BenchRow, formatRuns, median } from "./row";

export function measureSubmissions(): Promise<BenchRow[]> {
  return withService({}, async (service) => {
    await submit(service, waiting);
    const memory = watchMemory(service.process.pid);
    const prompt = thirtyNodes();
    const headers = { ...service.headers, "content-type": "application/json" };
    const runs = await load({ url: `${service.url}/api/prompt`, headers, method: "POST", body: JSON.stringify({ prompt }) }, 20);
    const over = memory.end() - memory.idle;
    const perSecond = runs.map((run) => run.perSecond);
    const depth = (await queueDepth(service)).toLocaleString("en");
    return [
      {
        name: `submissions of ${Object.keys(prompt).length} nodes, 20 connections, one slot that is taken`,
        target: "1,000 a second",
        ...formatRuns(perSecond, "a second", 0),
        meets: median(perSecond) >= 1000,
      },
      {
        name: "latency of these submissions",
        target: "",
        figure: `p95 ${median(runs.map((run) => run.p95)).toFixed(1)} ms`,
        spread: `p50 ${median(runs.map((run) => run.p50)).toFixed(1)} ms`,
        meets: true,
      },
      { name: `memory over idle when ${depth} wait`, target: "", figure: `${over.toFixed(0)} MiB`, spread: "", meets: true },
    ];
  });
}
