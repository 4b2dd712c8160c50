// Jobs per second: sample 01, 400 times with different colours so that nothing is cached.
import { readFileSync } from "node:fs";
import { forEachConcurrently, type Graph, submit, waitForEmptyQueue, withService } from "./client";
import { watchMemory } from "./memory";
import { type BenchRow, formatRuns, median } from "./row";

const RUNS = 3;
const JOBS = 400;
const sample = "public/samples/01-invert.json";

export function measureJobs(): Promise<BenchRow[]> {
  return withService({}, async (service) => {
    const memory = watchMemory(service.process.pid);
    const rates: number[] = [];
    // The first run is a warm-up: workers start and code is compiled.
    for (let run = 0; run <= RUNS; run += 1) {
      const colours = Array.from({ length: run === 0 ? 40 : JOBS }, (_, index) => run * 1_000_003 + index * 7919);
      const started = performance.now();
      await forEachConcurrently(colours, 20, async (colour) => void (await submit(service, createSample(colour))));
      await waitForEmptyQueue(service);
      if (run > 0) rates.push(JOBS / ((performance.now() - started) / 1000));
    }
    const over = memory.end() - memory.idle;
    return [
      {
        name: `sample 01, ${JOBS} jobs of distinct colours`,
        target: "60 a second",
        ...formatRuns(rates, "a second", 1),
        meets: median(rates) >= 60,
      },
      { name: "memory over idle while they run", target: "", figure: `${over.toFixed(0)} MiB`, spread: "", meets: true },
    ];
  });
}

function createSample(color: number): Graph {
  const graph: Graph = JSON.parse(readFileSync(sample, "utf8"));
  const first = graph["1"];
  if (first) first.inputs.color = color % 0x1000000;
  return graph;
}
