// Measures a bounded load on one URL. Stores every latency, since autocannon has no 95th percentile.
import autocannon from "autocannon";
import { percentile } from "./figures";

export type Target = { url: string; headers: Record<string, string>; method?: string; body?: string };
export type Load = { p50: number; p95: number; perSecond: number };

const RUNS = 3;
const RUN_SECONDS = 5;

/** Measures three runs of five seconds, after a warm-up of one second. */
export async function measureLoad(target: Target, connections: number): Promise<Load[]> {
  await measureRun(target, connections, 1);
  const runs: Load[] = [];
  for (let run = 0; run < RUNS; run += 1) runs.push(await measureRun(target, connections, RUN_SECONDS));
  return runs;
}

async function measureRun(target: Target, connections: number, duration: number): Promise<Load> {
  const latencies: number[] = [];
  const instance = autocannon({ ...target, connections, duration });
  instance.on("response", (_client, _status, _bytes, milliseconds) => latencies.push(milliseconds));
  const result = await instance;
  if (result.non2xx > 0 || result.errors > 0) throw new Error(`${target.url}: ${result.non2xx} non-2xx, ${result.errors} failed`);
  return { p50: percentile(latencies, 0.5), p95: percentile(latencies, 0.95), perSecond: result.requests.total / result.duration };
}
