// The job index is filled by reading the service's jobs, including those that never passed through the console.
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { type JobSearchResponse } from "@/lib/contract/console";
import { startComposition } from "@/lib/server/composition";
import { SqliteConnection } from "@/lib/shared/database/sqlite";
import { createHarness, type Harness } from "@/tests/support/harness";
import { openTestServer } from "@/tests/support/servers";
import { sendJsonResponse, type TestServer } from "@/tests/support/test-server";
import { until } from "@/tests/support/until";

const disposables: { dispose(): Promise<unknown> }[] = [];
afterEach(async () => {
  for (const item of disposables.splice(0).reverse()) await item.dispose();
});

const HOUR_MS = 60 * 60_000;
const NEWEST_MS = Date.UTC(2026, 4, 3);
type Job = { id: string; status: string; create_time: number };
type OtherService = TestServer & { jobs: Job[]; isDown: boolean; details: string[] };

/** Another service with jobs unknown to the console: newest first, one per hour. */
async function startOtherService(count: number): Promise<OtherService> {
  const jobs = Array.from({ length: count }, (_, index) => ({
    id: `job-${String(index).padStart(4, "0")}`,
    status: "completed",
    create_time: NEWEST_MS - index * HOUR_MS,
  }));
  const state = { jobs, isDown: false, details: new Array<string>() };
  const server = await openTestServer(({ url }, response) => {
    const { pathname, searchParams } = new URL(url, "http://x");
    if (state.isDown) return sendJsonResponse(response, { message: "down" }, 503);
    if (pathname === "/api/jobs") {
      const offset = Number(searchParams.get("offset"));
      const limit = Number(searchParams.get("limit"));
      const page = state.jobs.slice(offset, offset + limit);
      const total = state.jobs.length;
      return sendJsonResponse(response, { jobs: page, pagination: { offset, limit, total, has_more: offset + page.length < total } });
    }
    const job = state.jobs.find(({ id }) => pathname === `/api/jobs/${id}`);
    if (!job) return sendJsonResponse(response, { message: "There is no such job." }, 404);
    state.details.push(job.id);
    const graph = { "1": { class_type: "CLIPTextEncode", inputs: { text: `a fjord seen from ${job.id}`, clip: ["2", 0] } } };
    return sendJsonResponse(response, { ...job, workflow: { prompt: graph } });
  });
  disposables.push({ dispose: () => server.close() });
  return Object.assign(state, server);
}

/** Uses a fast clock, since the reader reads a page every 5 s. */
async function createFastHarness(settings: Record<string, string> = {}): Promise<Harness> {
  const startMs = Date.now();
  const harness = await createHarness({ settings, now: () => startMs + 20 * (Date.now() - startMs) });
  disposables.push(harness);
  return harness;
}

async function searchJobs(harness: Harness, query: string): Promise<JobSearchResponse> {
  const response = await harness.request(`/api/console/jobs/search?${query}`, { as: "viewer" });
  expect(response.status).toBe(200);
  return response.json();
}
const waitUntilRead = (harness: Harness, connection: string) =>
  until("all jobs are indexed", async () => {
    const { reach } = await searchJobs(harness, `from=1&limit=1&connection=${connection}`);
    return reach.extent !== "reading" && reach;
  });

test("finds jobs submitted elsewhere and reports how far back the index reaches", async () => {
  const [service, harness] = await Promise.all([startOtherService(230), createFastHarness()]);
  const connection = await harness.connect(service.url, "sk-key");
  const first = await searchJobs(harness, `text=job-0229&connection=${connection}`);
  expect(first).toMatchObject({ jobs: [], reach: { extent: "reading" } });
  const oldestMs = NEWEST_MS - 229 * HOUR_MS;
  const result = await until("the oldest job is indexed", async () => {
    const response = await searchJobs(harness, `from=${oldestMs}&to=${oldestMs + 1}&connection=${connection}`);
    return response.jobs.length > 0 && response;
  });
  expect(result.jobs.map((job) => job.id)).toEqual(["job-0229"]);
  const reach = await until("the index reaches all jobs", async () => {
    const currentReach = (await searchJobs(harness, `from=1&connection=${connection}`)).reach;
    return currentReach.extent === "all" && currentReach;
  });
  expect(reach).toMatchObject({ sinceMs: oldestMs });
  // Nobody has opened a job, so no job was requested.
  expect(service.details).toEqual([]);
  const search = `text=${encodeURIComponent('"from job-0001"')}&connection=${connection}`;
  expect((await searchJobs(harness, search)).jobs).toEqual([]);
  await harness.request(`/api/jobs/job-0001?connection=${connection}`, { as: "viewer" });
  expect((await searchJobs(harness, search)).jobs).toMatchObject([{ id: "job-0001" }]);
  expect(service.details).toEqual(["job-0001"]);
});

test("removes deleted jobs after the list is read again", async () => {
  const [service, harness] = await Promise.all([startOtherService(12), createFastHarness()]);
  const connection = await harness.connect(service.url, "sk-key");
  await searchJobs(harness, `from=1&connection=${connection}`);
  await waitUntilRead(harness, connection);
  service.jobs = service.jobs.filter(({ id }) => id !== "job-0004");
  await until("the job is removed", async () => (await searchJobs(harness, `from=1&connection=${connection}`)).pagination.total === 11);
});

test("keeps the newest jobs up to the limit and reports it", async () => {
  const [service, harness] = await Promise.all([startOtherService(420), createFastHarness({ LIGHTDESK_LEDGER_JOBS: "100" })]);
  const connection = await harness.connect(service.url, "sk-key");
  await searchJobs(harness, `within=8000&connection=${connection}`);
  const fullResult = await until("the index is full", async () => {
    const result = await searchJobs(harness, `from=1&connection=${connection}`);
    return result.reach.extent === "newest" && result;
  });
  expect(fullResult.pagination.total).toBe(100);
  expect(fullResult.jobs[0]?.id).toBe("job-0000");
  expect(fullResult.jobs.at(-1)?.id).toBe("job-0099");
});

test("shows cached jobs with their age while the service is down, then resumes", async () => {
  const [service, harness] = await Promise.all([startOtherService(5), createFastHarness()]);
  const connection = await harness.connect(service.url, "sk-key");
  await searchJobs(harness, `from=1&connection=${connection}`);
  await waitUntilRead(harness, connection);
  service.isDown = true;
  const staleResult = await until("the outage is noticed", async () => {
    const result = await searchJobs(harness, `from=1&connection=${connection}`);
    return result.reach.asOfMs !== undefined && result;
  });
  expect(staleResult.jobs).toHaveLength(5);
  service.isDown = false;
  await until(
    "the jobs are up to date",
    async () => (await searchJobs(harness, `from=1&connection=${connection}`)).reach.asOfMs === undefined,
  );
});

test("rebuilds a lost job index", async () => {
  const [service, harness] = await Promise.all([startOtherService(5), createFastHarness()]);
  const connection = await harness.connect(service.url, "sk-key");
  await searchJobs(harness, `from=1&connection=${connection}`);
  await waitUntilRead(harness, connection);
  await harness.console.stop();
  const database = new SqliteConnection(join(harness.folder, "console.sqlite"));
  database.exec("DELETE FROM ledger_jobs; DELETE FROM ledger_connections;");
  database.close();
  const restarted = startComposition({ env: harness.console.env });
  await restarted.ready;
  try {
    const reach = await waitUntilRead(harness, connection);
    expect(reach.extent).toBe("all");
    expect((await searchJobs(harness, `from=1&connection=${connection}`)).pagination.total).toBe(5);
  } finally {
    await restarted.stop();
    await rm(harness.folder, { recursive: true, force: true });
  }
});

test("doesn't search earlier jobs of a redirected connection", async () => {
  const [first, otherServer, harness] = await Promise.all([startOtherService(5), startOtherService(2), createFastHarness()]);
  const connection = await harness.connect(first.url, "sk-key");
  await searchJobs(harness, `from=1&connection=${connection}`);
  await waitUntilRead(harness, connection);
  const json = { baseUrl: otherServer.url, key: "sk-key", keep: true };
  const changeResponse = await harness.request(`/api/console/connections/${connection}`, { as: "admin", method: "PUT", json });
  expect(changeResponse.status).toBe(200);
  await until("only the new service's jobs are indexed", async () => {
    const result = await searchJobs(harness, `from=1&connection=${connection}`);
    return result.reach.extent === "all" && result.pagination.total === 2;
  });
});
