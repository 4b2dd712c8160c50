// Requests for lists of many jobs: every set of states with every kind of output, with and without a workflow, in every order and at any
// offset. Each group gives the percentiles of the mixture.
import { SqliteConnection } from "@/lib/shared/database/sqlite";
import { percentile } from "../figures";
import { waiting } from "./graphs";
import { type JsonGet } from "./json-client";
import { type BenchRow } from "./row";
import { getWorkflows, workflowId } from "./seed-jobs";

export type Group = { name: string; target: string; p95BelowMs: number; paths: string[]; /** A repeated request. */ others?: string[] };

const states = ["pending", "completed", "failed", "cancelled"];
const stateSets = Array.from({ length: 2 ** states.length }, (_, bits) => states.filter((_, at) => (bits >> at) & 1).join(","));
const outputTypes = ["", "image", "video", "audio"];
const jobOrders = ["create_time", "execution_time"].flatMap((by) => ["asc", "desc"].map((order) => `sort_by=${by}&sort_order=${order}`));

export async function measureGroup(
  getJson: JsonGet,
  { name, target, p95BelowMs, paths, others = paths.slice(0, 10) }: Group,
  log: (line: string) => void,
): Promise<BenchRow> {
  const times: { ms: number; path: string }[] = [];
  for (const path of others) await getJson(path);
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

/** Every set of states with every kind of output, with and without a workflow, in every order. */
function jobFilters(total: number): string[] {
  const filters = stateSets.flatMap((set) =>
    outputTypes.flatMap((type) => ["", "w"].map((workflow) => ({ status: set, output_type: type, workflow_id: workflow }))),
  );
  return filters.flatMap((filter, index) => {
    const params = { ...filter, workflow_id: filter.workflow_id && workflowId(index % getWorkflows(total)) };
    const query = new URLSearchParams(Object.entries(params).filter(([, value]) => value !== "")).toString();
    return jobOrders.map((order) => `/api/jobs?limit=100&${order}&${query}`);
  });
}

export function jobGroups(total: number, requests: number): Group[] {
  const filters = spreadOut(jobFilters(total), requests);
  const deep = stateSets
    .filter((set) => set === "" || set.includes("completed"))
    .flatMap((set) => jobOrders.map((order) => `${order}&status=${set}`));
  const offset = Math.floor(total / 2);
  return [
    {
      name: `GET /api/jobs at ${total} jobs, any filter and sort, 100 per page`,
      target: "p50 3 ms, p95 under 20 ms",
      p95BelowMs: 20,
      paths: filters,
      others: jobFilters(total).filter((path) => !filters.includes(path)),
    },
    {
      name: `GET /api/jobs at offset ${offset}, any set of states and sort`,
      target: "p95 under 300 ms",
      p95BelowMs: 300,
      paths: spreadOut(deep, requests).map((query) => `/api/jobs?limit=100&offset=${offset}&${query}`),
    },
    {
      name: "GET /api/jobs at any offset, any set of states, kind of output and sort",
      target: "p95 under 300 ms",
      p95BelowMs: 300,
      paths: spreadOut(jobFilters(total), requests).map((path, index) => `${path}&offset=${Math.floor((index * total) / requests)}`),
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

/** Turns the oldest pending job into a running one, so that lists are measured without other outputs. */
export function takeTheSlot(file: string): void {
  const database = new SqliteConnection(file);
  const oldest = "(SELECT min(seq) FROM jobs WHERE state = 'pending')";
  database.prepare(`UPDATE job_inputs SET prompt = ?, outputs_to_execute = '["2"]' WHERE job_seq = ${oldest}`).run(JSON.stringify(waiting));
  database.exec(`UPDATE jobs SET attempts = 0 WHERE seq = ${oldest}`);
  database.close();
}

/** The wanted number of items, taken evenly from the whole list; starts over where the list is too short. */
export function spreadOut<T>(list: readonly T[], count: number): T[] {
  const step = Math.max(1, list.length / count);
  return Array.from({ length: count }, (_, index) => list[Math.floor(index * step) % list.length]).filter((item) => item !== undefined);
}
