// Measures requests for lists of many jobs: every set of states with every kind of output, with and without a workflow, in every order
// and at any offset. Each group reports the percentiles of the mixture.
import { SqliteConnection } from "@/lib/shared/database/sqlite";
import { percentile } from "../figures";
import { waitingGraph } from "./graphs";
import { type JsonGet } from "./json-client";
import { type BenchRow } from "./row";
import { createWorkflowId, getWorkflowCount } from "./seed-jobs";

export type RequestGroup = { name: string; target: string; p95BelowMs: number; paths: string[]; warmUpPaths?: string[] };

const states = ["pending", "completed", "failed", "cancelled"];
const stateSets = Array.from({ length: 2 ** states.length }, (_, bits) => states.filter((_, index) => (bits >> index) & 1).join(","));
const outputKinds = ["", "image", "video", "audio"];
const sortQueries = ["create_time", "execution_time"].flatMap((by) => ["asc", "desc"].map((order) => `sort_by=${by}&sort_order=${order}`));

export async function measureGroup(
  getJson: JsonGet,
  { name, target, p95BelowMs, paths, warmUpPaths = paths.slice(0, 10) }: RequestGroup,
  log: (line: string) => void,
): Promise<BenchRow> {
  const times: { ms: number; path: string }[] = [];
  for (const path of warmUpPaths) await getJson(path);
  for (const path of paths) {
    const startedMs = performance.now();
    await getJson(path);
    times.push({ ms: performance.now() - startedMs, path });
  }
  const values = times.map(({ ms }) => ms);
  const p95 = percentile(values, 0.95);
  for (const { ms, path } of times.sort((a, b) => b.ms - a.ms).slice(0, 3)) log(`  ${ms.toFixed(1)} ms  ${path}`);
  const row = {
    name,
    target,
    figure: `p95 ${p95.toFixed(1)} ms`,
    spread: `p50 ${percentile(values, 0.5).toFixed(1)}, p99 ${percentile(values, 0.99).toFixed(1)}, ${values.length} requests`,
    meets: p95 < p95BelowMs,
  };
  log(`${row.name}: ${row.figure} (${row.spread})`);
  return row;
}

/** Returns paths for every set of states with every kind of output, with and without a workflow, in every order. */
function createFilterPaths(total: number): string[] {
  const filters = stateSets.flatMap((set) =>
    outputKinds.flatMap((type) => ["", "w"].map((workflow) => ({ status: set, output_type: type, workflow_id: workflow }))),
  );
  return filters.flatMap((filter, index) => {
    const params = { ...filter, workflow_id: filter.workflow_id && createWorkflowId(index % getWorkflowCount(total)) };
    const query = new URLSearchParams(Object.entries(params).filter(([, value]) => value !== "")).toString();
    return sortQueries.map((order) => `/api/jobs?limit=100&${order}&${query}`);
  });
}

export function createJobGroups(total: number, requests: number): RequestGroup[] {
  const filters = pickEvenly(createFilterPaths(total), requests);
  const offsetQueries = stateSets
    .filter((set) => set === "" || set.includes("completed"))
    .flatMap((set) => sortQueries.map((order) => `${order}&status=${set}`));
  const offset = Math.floor(total / 2);
  return [
    {
      name: `GET /api/jobs at ${total} jobs, any filter and sort, 100 per page`,
      target: "p50 3 ms, p95 under 20 ms",
      p95BelowMs: 20,
      paths: filters,
      warmUpPaths: createFilterPaths(total).filter((path) => !filters.includes(path)),
    },
    {
      name: `GET /api/jobs at offset ${offset}, any set of states and sort`,
      target: "p95 under 300 ms",
      p95BelowMs: 300,
      paths: pickEvenly(offsetQueries, requests).map((query) => `/api/jobs?limit=100&offset=${offset}&${query}`),
    },
    {
      name: "GET /api/jobs at any offset, any set of states, kind of output and sort",
      target: "p95 under 300 ms",
      p95BelowMs: 300,
      paths: pickEvenly(createFilterPaths(total), requests).map(
        (path, index) => `${path}&offset=${Math.floor((index * total) / requests)}`,
      ),
    },
    {
      name: "GET /api/history_v2, 100 entries at any offset",
      target: "p95 under 300 ms",
      p95BelowMs: 300,
      paths: Array.from(
        { length: requests },
        (_, index) => `/api/history_v2?max_items=100&offset=${Math.floor((index * total) / requests)}`,
      ),
    },
  ];
}

export async function getTotal(getJson: JsonGet, path: string): Promise<number> {
  const { pagination } = await getJson(path);
  return Number((pagination as { total?: number } | undefined)?.total ?? 0);
}

/** Turns the oldest pending job into one that runs for an hour, so that no job ends while lists are measured. */
export function occupySlot(file: string): void {
  const database = new SqliteConnection(file);
  const oldest = "(SELECT min(seq) FROM jobs WHERE state = 'pending')";
  database
    .prepare(`UPDATE job_inputs SET prompt = ?, outputs_to_execute = '["2"]' WHERE job_seq = ${oldest}`)
    .run(JSON.stringify(waitingGraph));
  database.exec(`UPDATE jobs SET attempts = 0 WHERE seq = ${oldest}`);
  database.close();
}

/** Picks `count` items evenly from the list. Repeats items if the list is too short. */
export function pickEvenly<T>(list: readonly T[], count: number): T[] {
  const step = Math.max(1, list.length / count);
  return Array.from({ length: count }, (_, index) => list[Math.floor(index * step) % list.length]).filter((item) => item !== undefined);
}
