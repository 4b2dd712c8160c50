// Lists at a million rows: a service process of its own, asked over HTTP on loopback by one client that waits for each answer and reads
// it whole. Every request of a group differs (filters, orders and offsets rotate in a fixed order), so a percentile is that of the
// mixture. Correct totals are tested in tests/integration/service/jobs.list.model and assets.list.model.
import { join } from "node:path";
import { percentile } from "../figures";
import { newFolder, type PortService, post, startService } from "../processes";
import { getTotal, type Group, jobGroups, measureGroup, spreadOut, takeTheSlot } from "./job-lists";
import { createJsonGet, type JsonGet } from "./json-client";
import { type BenchRow } from "./row";
import { KINDS, PLACES, seedAssets, WIDE, WORDS } from "./seed-assets";
import { seedJobs } from "./seed-jobs";
import { createChance } from "./seeded-random";

export type ListsOptions = { jobs?: number; assets?: number; requests?: number; folder?: string; log?: (line: string) => void };

const assetSorts = ["created_at", "updated_at", "name", "size", "last_access_time"];

export async function measureLists(options: ListsOptions = {}): Promise<BenchRow[]> {
  const { jobs = 1_000_000, assets = 1_000_000, requests = 200, log = () => undefined } = options;
  const seeded = options.folder ?? process.env.LIGHTDESK_BENCH_FOLDER;
  const folder = seeded ?? newFolder();
  const first = await startService(folder);
  await first.process.stop();
  const file = join(folder, "service", "service.sqlite");
  if (seeded === undefined) {
    log(`filling ${file}`);
    // A tenth of the jobs wait: 100,000 of a million.
    seedJobs(file, "bench", jobs, { queued: 0.0722 });
    seedAssets(file, "bench", assets);
  }
  takeTheSlot(file);
  const service = await startService(folder);
  const getJson = createJsonGet(service);
  try {
    const rows: BenchRow[] = [];
    for (const group of [...jobGroups(await getTotal(getJson, "/api/jobs?limit=1"), requests), ...(await detailGroup(getJson, requests))]) {
      rows.push(await measureGroup(getJson, group, log));
    }
    for (const group of assetGroups(requests)) rows.push(await measureGroup(getJson, group, log));
    if (seeded === undefined) rows.push(await measureQueueClear(service, getJson), await measureClear(service, getJson));
    return rows;
  } finally {
    await service.process.stop();
  }
}

/** The response to clearing a long queue, and other requests' latency meanwhile. */
async function measureQueueClear(service: PortService, getJson: JsonGet): Promise<BenchRow> {
  const times: number[] = [];
  const startedMs = performance.now();
  const clock = { answered: 0 };
  const cleared = post<{ deleted: string[] }>(`${service.url}/api/queue`, { clear: true }, service.headers).then(({ deleted }) => {
    clock.answered = performance.now() - startedMs;
    return deleted;
  });
  while (clock.answered === 0) {
    const startedMs = performance.now();
    await getJson("/api/jobs?limit=100");
    times.push(performance.now() - startedMs);
  }
  const { length } = await cleared;
  return {
    name: `POST /api/queue clear (${length} jobs that wait); GET /api/jobs until it is answered`,
    target: "under 2 s",
    figure: `${clock.answered.toFixed(0)} ms; p95 ${percentile(times, 0.95).toFixed(1)} ms`,
    spread: `highest ${Math.max(...times).toFixed(1)}, ${times.length} requests`,
    meets: clock.answered < 2000,
  };
}

/** The response to clearing the history, and other requests' latency while its rows are removed. */
async function measureClear(service: PortService, getJson: JsonGet): Promise<BenchRow> {
  const startedMs = performance.now();
  const { message } = await post<{ message: string }>(`${service.url}/api/history`, { clear: true }, service.headers);
  const response = performance.now() - startedMs;
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
    figure: `${response.toFixed(0)} ms; p95 ${percentile(times, 0.95).toFixed(1)} ms`,
    spread: `p50 ${percentile(times, 0.5).toFixed(1)}, highest ${Math.max(...times).toFixed(1)}, ${times.length} requests`,
    meets: true,
  };
}

async function detailGroup(getJson: JsonGet, requests: number): Promise<Group[]> {
  const { jobs } = await getJson("/api/jobs?limit=1000&offset=1000");
  const ids = Array.isArray(jobs) ? jobs.map((job: { id: string }) => job.id) : [];
  const paths = spreadOut(ids, requests).map((id) => `/api/jobs/${id}`);
  return [{ name: "GET /api/jobs/{id}", target: "p95 under 5 ms", p95BelowMs: 5, paths }];
}

function assetGroups(requests: number): Group[] {
  const chance = createChance(7);
  const makeQueries = (make: () => Record<string, string>, path = "/api/assets") =>
    Array.from(
      { length: requests },
      () => `${path}?${new URLSearchParams({ include_public: String(chance.below(2) === 0), ...make() }).toString()}`,
    );
  const order = () => ({ sort: chance.one(assetSorts), order: chance.one(["asc", "desc"]), limit: "100" });
  const twoTags = () => ({ include_tags: `${chance.one(KINDS)},${chance.one(PLACES)}` });
  const word = () => ({
    name_contains: chance
      .one(WORDS)
      .toUpperCase()
      .slice(0, 4 + chance.below(4)),
  });
  return [
    {
      name: "GET /api/assets, two tags and a piece of the name, any sort",
      target: "p95 under 40 ms",
      p95BelowMs: 40,
      paths: makeQueries(() => ({ ...twoTags(), ...word(), ...order() })),
    },
    {
      name: "GET /api/assets, two tags and a piece of the name that leave 100,000, any sort, at any offset",
      target: "p95 under 500 ms",
      p95BelowMs: 500,
      paths: makeQueries(() => ({ include_tags: WIDE.join(","), ...word(), ...order(), offset: String(chance.below(100_000)) })),
    },
    {
      name: "GET /api/assets, one tag and a piece of the name, any sort",
      target: "p95 under 40 ms",
      p95BelowMs: 40,
      paths: makeQueries(() => ({ include_tags: chance.one(KINDS), ...word(), ...order() })),
    },
    {
      name: "GET /api/assets, one tag, any sort",
      target: "p95 under 40 ms",
      p95BelowMs: 40,
      paths: makeQueries(() => ({ include_tags: chance.one(KINDS), ...order() })),
    },
    {
      name: "GET /api/assets, a piece of the name alone, any sort",
      target: "p95 under 40 ms",
      p95BelowMs: 40,
      paths: makeQueries(() => ({ ...word(), ...order() })),
    },
    {
      name: "GET /api/assets, a tag left out, any sort",
      target: "p95 under 40 ms",
      p95BelowMs: 40,
      paths: makeQueries(() => ({ exclude_tags: chance.one(KINDS), ...order() })),
    },
    {
      name: "GET /api/assets, metadata alone, any sort",
      target: "p95 under 40 ms",
      p95BelowMs: 40,
      paths: makeQueries(() => ({ metadata_filter: JSON.stringify({ node_id: String(chance.below(30)) }), ...order() })),
    },
    ...["one letter", "two letters"].map((letters, at) => ({
      name: `GET /api/assets, ${letters} of the name, any sort`,
      target: "p95 under 500 ms",
      p95BelowMs: 500,
      paths: makeQueries(() => ({ name_contains: word().name_contains.slice(0, at + 1), ...order() })),
    })),
    {
      name: "GET /api/assets, one tag, any sort, at any offset",
      target: "p95 under 500 ms",
      p95BelowMs: 500,
      paths: makeQueries(() => ({ include_tags: chance.one(KINDS), ...order(), offset: String(chance.below(80_000)) })),
    },
    {
      name: "GET /api/assets, a piece of the name, any sort, at any offset",
      target: "p95 under 500 ms",
      p95BelowMs: 500,
      paths: makeQueries(() => ({ ...word(), ...order(), offset: String(chance.below(150_000)) })),
    },
    {
      name: "GET /api/assets/tags/refine, two tags and a piece of the name",
      target: "p95 under 150 ms",
      p95BelowMs: 150,
      paths: makeQueries(() => ({ ...twoTags(), ...word() }), "/api/assets/tags/refine"),
    },
    {
      name: "GET /api/assets/tags/refine, one tag",
      target: "p95 under 150 ms",
      p95BelowMs: 150,
      paths: makeQueries(() => ({ include_tags: chance.one(KINDS) }), "/api/assets/tags/refine"),
    },
    {
      name: "GET /api/tags",
      target: "p95 under 40 ms",
      p95BelowMs: 40,
      paths: makeQueries(() => ({ order: chance.one(["count_desc", "name_asc"]) }), "/api/tags"),
    },
  ];
}
