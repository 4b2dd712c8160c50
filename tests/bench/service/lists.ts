// Measures lists of a million rows: one client sends requests in sequence over loopback to a separate service process. Filters, orders
// and offsets rotate in a fixed order, so each percentile is that of the mixture. Correct totals are tested in
// tests/integration/service/jobs.list.model and assets.list.model.
import { join } from "node:path";
import { percentile } from "../figures";
import { createTempFolder, post, type ServiceProcess, startService } from "../processes";
import { createJobGroups, getTotal, measureGroup, occupySlot, pickEvenly, type RequestGroup } from "./job-lists";
import { createJsonGet, type JsonGet } from "./json-client";
import { type BenchRow } from "./row";
import { COMMON_TAGS, KINDS, PLACES, seedAssets, WORDS } from "./seed-assets";
import { seedJobs } from "./seed-jobs";
import { createSeededRandom } from "./seeded-random";

export type ListsOptions = { jobs?: number; assets?: number; requests?: number; folder?: string; log?: (line: string) => void };

const assetSorts = ["created_at", "updated_at", "name", "size", "last_access_time"];

export async function measureLists(options: ListsOptions = {}): Promise<BenchRow[]> {
  const { jobs = 1_000_000, assets = 1_000_000, requests = 200, log = () => undefined } = options;
  const existingFolder = options.folder ?? process.env.LIGHTDESK_BENCH_FOLDER;
  const folder = existingFolder ?? createTempFolder();
  const initialService = await startService(folder);
  await initialService.process.stop();
  const file = join(folder, "service", "service.sqlite");
  if (existingFolder === undefined) {
    log(`filling ${file}`);
    // A tenth of the jobs are pending: 100,000 of a million.
    seedJobs(file, "bench", jobs, { queued: 0.0722 });
    seedAssets(file, "bench", assets);
  }
  occupySlot(file);
  const service = await startService(folder);
  const getJson = createJsonGet(service);
  try {
    const rows: BenchRow[] = [];
    for (const group of [
      ...createJobGroups(await getTotal(getJson, "/api/jobs?limit=1"), requests),
      ...(await createDetailGroups(getJson, requests)),
    ]) {
      rows.push(await measureGroup(getJson, group, log));
    }
    for (const group of createAssetGroups(requests)) rows.push(await measureGroup(getJson, group, log));
    if (existingFolder === undefined) rows.push(await measureQueueClear(service, getJson), await measureClear(service, getJson));
    return rows;
  } finally {
    await service.process.stop();
  }
}

/** Measures the time to clear a long queue, and the latency of other requests meanwhile. */
async function measureQueueClear(service: ServiceProcess, getJson: JsonGet): Promise<BenchRow> {
  const times: number[] = [];
  const startedMs = performance.now();
  const clock = { responseMs: 0 };
  const cleared = post<{ deleted: string[] }>(`${service.url}/api/queue`, { clear: true }, service.headers).then(({ deleted }) => {
    clock.responseMs = performance.now() - startedMs;
    return deleted;
  });
  while (clock.responseMs === 0) {
    const startedMs = performance.now();
    await getJson("/api/jobs?limit=100");
    times.push(performance.now() - startedMs);
  }
  const { length } = await cleared;
  return {
    name: `POST /api/queue clear (${length} pending jobs); GET /api/jobs until the response`,
    target: "under 2 s",
    figure: `${clock.responseMs.toFixed(0)} ms; p95 ${percentile(times, 0.95).toFixed(1)} ms`,
    spread: `highest ${Math.max(...times).toFixed(1)}, ${times.length} requests`,
    meets: clock.responseMs < 2000,
  };
}

/** Measures the time to clear the history, and the latency of other requests while its rows are removed. */
async function measureClear(service: ServiceProcess, getJson: JsonGet): Promise<BenchRow> {
  const startedMs = performance.now();
  const { message } = await post<{ message: string }>(`${service.url}/api/history`, { clear: true }, service.headers);
  const responseMs = performance.now() - startedMs;
  const times: number[] = [];
  for (let request = 0; request < 300; request += 1) {
    const startedMs = performance.now();
    await getJson("/api/jobs?limit=100");
    times.push(performance.now() - startedMs);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  return {
    name: `POST /api/history clear (${message}); GET /api/jobs while the rows are removed`,
    target: "",
    figure: `${responseMs.toFixed(0)} ms; p95 ${percentile(times, 0.95).toFixed(1)} ms`,
    spread: `p50 ${percentile(times, 0.5).toFixed(1)}, highest ${Math.max(...times).toFixed(1)}, ${times.length} requests`,
    meets: true,
  };
}

async function createDetailGroups(getJson: JsonGet, requests: number): Promise<RequestGroup[]> {
  const { jobs } = await getJson("/api/jobs?limit=1000&offset=1000");
  const ids = Array.isArray(jobs) ? jobs.map((job: { id: string }) => job.id) : [];
  const paths = pickEvenly(ids, requests).map((id) => `/api/jobs/${id}`);
  return [{ name: "GET /api/jobs/{id}", target: "p95 under 5 ms", p95BelowMs: 5, paths }];
}

function createAssetGroups(requests: number): RequestGroup[] {
  const random = createSeededRandom(7);
  const createPaths = (createQuery: () => Record<string, string>, path = "/api/assets") =>
    Array.from(
      { length: requests },
      () => `${path}?${new URLSearchParams({ include_public: String(random.below(2) === 0), ...createQuery() }).toString()}`,
    );
  const createOrder = () => ({ sort: random.pick(assetSorts), order: random.pick(["asc", "desc"]), limit: "100" });
  const createTagFilter = () => ({ include_tags: `${random.pick(KINDS)},${random.pick(PLACES)}` });
  const createNameFilter = () => ({
    name_contains: random
      .pick(WORDS)
      .toUpperCase()
      .slice(0, 4 + random.below(4)),
  });
  return [
    {
      name: "GET /api/assets, two tags and part of the name, any sort",
      target: "p95 under 40 ms",
      p95BelowMs: 40,
      paths: createPaths(() => ({ ...createTagFilter(), ...createNameFilter(), ...createOrder() })),
    },
    {
      name: "GET /api/assets, two tags and part of the name, 100,000 matches, any sort, at any offset",
      target: "p95 under 500 ms",
      p95BelowMs: 500,
      paths: createPaths(() => ({
        include_tags: COMMON_TAGS.join(","),
        ...createNameFilter(),
        ...createOrder(),
        offset: String(random.below(100_000)),
      })),
    },
    {
      name: "GET /api/assets, one tag and part of the name, any sort",
      target: "p95 under 40 ms",
      p95BelowMs: 40,
      paths: createPaths(() => ({ include_tags: random.pick(KINDS), ...createNameFilter(), ...createOrder() })),
    },
    {
      name: "GET /api/assets, one tag, any sort",
      target: "p95 under 40 ms",
      p95BelowMs: 40,
      paths: createPaths(() => ({ include_tags: random.pick(KINDS), ...createOrder() })),
    },
    {
      name: "GET /api/assets, only part of the name, any sort",
      target: "p95 under 40 ms",
      p95BelowMs: 40,
      paths: createPaths(() => ({ ...createNameFilter(), ...createOrder() })),
    },
    {
      name: "GET /api/assets, an excluded tag, any sort",
      target: "p95 under 40 ms",
      p95BelowMs: 40,
      paths: createPaths(() => ({ exclude_tags: random.pick(KINDS), ...createOrder() })),
    },
    {
      name: "GET /api/assets, only metadata, any sort",
      target: "p95 under 40 ms",
      p95BelowMs: 40,
      paths: createPaths(() => ({ metadata_filter: JSON.stringify({ node_id: String(random.below(30)) }), ...createOrder() })),
    },
    ...["one letter", "two letters"].map((letters, at) => ({
      name: `GET /api/assets, ${letters} of the name, any sort`,
      target: "p95 under 500 ms",
      p95BelowMs: 500,
      paths: createPaths(() => ({ name_contains: createNameFilter().name_contains.slice(0, at + 1), ...createOrder() })),
    })),
    {
      name: "GET /api/assets, one tag, any sort, at any offset",
      target: "p95 under 500 ms",
      p95BelowMs: 500,
      paths: createPaths(() => ({ include_tags: random.pick(KINDS), ...createOrder(), offset: String(random.below(80_000)) })),
    },
    {
      name: "GET /api/assets, part of the name, any sort, at any offset",
      target: "p95 under 500 ms",
      p95BelowMs: 500,
      paths: createPaths(() => ({ ...createNameFilter(), ...createOrder(), offset: String(random.below(150_000)) })),
    },
    {
      name: "GET /api/assets/tags/refine, two tags and part of the name",
      target: "p95 under 150 ms",
      p95BelowMs: 150,
      paths: createPaths(() => ({ ...createTagFilter(), ...createNameFilter() }), "/api/assets/tags/refine"),
    },
    {
      name: "GET /api/assets/tags/refine, one tag",
      target: "p95 under 150 ms",
      p95BelowMs: 150,
      paths: createPaths(() => ({ include_tags: random.pick(KINDS) }), "/api/assets/tags/refine"),
    },
    {
      name: "GET /api/tags",
      target: "p95 under 40 ms",
      p95BelowMs: 40,
      paths: createPaths(() => ({ order: random.pick(["count_desc", "name_asc"]) }), "/api/tags"),
    },
  ];
}
