// Measures jobs per second: sample 01, 400 times with different colors, so that no result is cached.
import { readFileSync } from "node:fs";
import { forEachConcurrently, type Graph, submitGraph, waitForEmptyQueue, withService } from "./client";
import { watchMemory } from "./memory";
import { type BenchRow, formatRuns, median } from "./row";

const RUNS = 3;
const JOBS = 400;
const SAMPLE_PATH = "public/samples/01-invert.json";

export function measureJobs(): Promise<BenchRow[]> {
  return withService({}, async (service) => {
    const memory = watchMemory(service.process.pid);
    const rates: number[] = [];
    // The first run is a warm-up, in which workers start and code is compiled.
    for (let run = 0; run <= RUNS; run += 1) {
      const colors = Array.from({ length: run === 0 ? 40 : JOBS }, (_, index) => run * 1_000_003 + index * 7919);
      const started = performance.now();
      await forEachConcurrently(colors, 20, async (color) => void (await submitGraph(service, createSample(color))));
      await waitForEmptyQueue(service);
      if (run > 0) rates.push(JOBS / ((performance.now() - started) / 1000));
    }
    const memoryMiB = memory.end() - memory.idle;
    return [
      {
        name: `sample 01, ${JOBS} jobs of distinct colors`,
        target: "60 per second",
        ...formatRuns(rates, "per second", 1),
        meets: median(rates) >= 60,
      },
      { name: "memory over idle while the jobs run", target: "", figure: `${memoryMiB.toFixed(0)} MiB`, spread: "", meets: true },
    ];
  });
}

function createSample(color: number): Graph {
  const graph: Graph = JSON.parse(readFileSync(SAMPLE_PATH, "utf8"));
  const firstNode = graph["1"];
  if (firstNode) firstNode.inputs.color = color % 0x1000000;
  return graph;
}
