// Lists of many assets are read into memory at the first request: how long that takes, and how other requests fare meanwhile.
import { percentile } from "../figures";
import { type Ask } from "./asking";
import { type BenchRow } from "./row";
import { KINDS, WORDS } from "./seed-assets";

/** A list from memory takes less; one from the database takes some tens of milliseconds. */
const FROM_MEMORY_MS = 10;

export async function measureFirstAssetLists(ask: Ask, sorts: readonly string[]): Promise<BenchRow> {
  const begun = performance.now();
  const assetTimes: number[] = [];
  const jobTimes: number[] = [];
  const timed = async (times: number[], path: string) => {
    const asked = performance.now();
    await ask(path);
    times.push(performance.now() - asked);
  };
  const isRead = () => assetTimes.length >= 20 && percentile(assetTimes.slice(-20), 0.9) < FROM_MEMORY_MS;
  while (!isRead() && performance.now() - begun < 60_000) {
    const sort = sorts[assetTimes.length % sorts.length];
    await timed(assetTimes, `/api/assets?include_tags=${KINDS[1]}&name_contains=${WORDS[0]}&sort=${sort}&limit=100`);
    await timed(jobTimes, "/api/jobs?limit=100");
  }
  const seconds = ((performance.now() - begun) / 1000).toFixed(1);
  return {
    name: "GET /api/assets after a start, until it is answered from memory; GET /api/jobs meanwhile",
    target: "",
    figure: `${seconds} s; p95 ${percentile(assetTimes, 0.95).toFixed(1)} ms; jobs p95 ${percentile(jobTimes, 0.95).toFixed(1)} ms`,
    spread: `${assetTimes.length} requests each`,
    meets: true,
  };
}
