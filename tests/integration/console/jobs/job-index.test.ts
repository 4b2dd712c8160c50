// The job index is filled by reading the service's jobs, including those that never passed through the console.
import { join } from "node:path";
import { expect, test } from "vitest";
import { type JobSearchResponse } from "@/lib/contract/console";
import { startComposition } from "@/lib/server/composition";
import { SqliteConnection } from "@/lib/shared/database/sqlite";
import { API_KEY, connectService } from "@/tests/support/connection-client";
import { createHarness } from "@/tests/support/harness";
import { sendJsonResponse } from "@/tests/support/test-server";
import { until } from "@/tests/support/until";

const HOUR_MS = 60 * 60_000;
const NEWEST_MS = Date.UTC(2026, 4, 3);
const startMs = Date.now();

/** Uses a fast clock, since the reader reads a page every 5 s. */
const createFastHarness = (settings: Record<string, string> = {}) =>
  createHarness({ settings, now: () => startMs + 20 * (Date.now() - startMs) });
const sharedHarness = await createFastHarness();

/** Connects a service with jobs unknown to the console: newest first, one per hour. */
async function connectJobs(count: number, harness = sharedHarness) {
  const jobs = Array.from({ length: count }, (_, index) => ({
    id: `job-${String(index).padStart(4, "0")}`,
    status: "completed",
    create_time: NEWEST_MS - index * HOUR_MS,
  }));
  const service = { jobs, isDown: false, details: new Array<string>() };
  const client = await connectService(harness, ({ url }, response) => {
    const { pathname, searchParams } = new URL(url, "http://x");
    if (service.isDown) return sendJsonResponse(response, { message: "down" }, 503);
    if (pathname === "/api/jobs") {
      const offset = Number(searchParams.get("offset"));
      const limit = Number(searchParams.get("limit"));
      const page = service.jobs.slice(offset, offset + limit);
      const total = service.jobs.length;
      return sendJsonResponse(response, { jobs: page, pagination: { offset, limit, total, has_more: offset + page.length < total } });
    }
    const job = service.jobs.find(({ id }) => pathname === `/api/jobs/${id}`);
    if (!job) return sendJsonResponse(response, { message: "There is no such job." }, 404);
    service.details.push(job.id);
    const graph = { "1": { class_type: "CLIPTextEncode", inputs: { text: `a fjord seen from ${job.id}`, clip: ["2", 0] } } };
    return sendJsonResponse(response, { ...job, workflow: { prompt: graph } });
  });
  const search = async (query = "from=1"): Promise<JobSearchResponse> => client.getJson(`/api/console/jobs/search?${query}`);
  const waitUntilRead = () =>
    until("all jobs are indexed", async () => {
      const { reach } = await search("from=1&limit=1");
      return reach.extent !== "reading" && reach;
    });
  return { ...client, service, search, waitUntilRead };
}

test("finds jobs submitted elsewhere and reports how far back the index reaches", async () => {
  const { service, search, send } = await connectJobs(230);
  expect(await search("text=job-0229")).toMatchObject({ jobs: [], reach: { extent: "reading" } });
  const oldestMs = NEWEST_MS - 229 * HOUR_MS;
  const result = await until("the oldest job is indexed", async () => {
    const response = await search(`from=${oldestMs}&to=${oldestMs + 1}`);
    return response.jobs.length > 0 && response;
  });
  expect(result.jobs.map((job) => job.id)).toEqual(["job-0229"]);
  const reach = await until("the index reaches all jobs", async () => {
    const currentReach = (await search()).reach;
    return currentReach.extent === "all" && currentReach;
  });
  expect(reach).toMatchObject({ sinceMs: oldestMs });
  // Nobody has opened a job, so no job was requested.
  expect(service.details).toEqual([]);
  const query = `text=${encodeURIComponent('"from job-0001"')}`;
  expect((await search(query)).jobs).toEqual([]);
  await send("/api/jobs/job-0001");
  expect((await search(query)).jobs).toMatchObject([{ id: "job-0001" }]);
  expect(service.details).toEqual(["job-0001"]);
});

test("shows cached jobs with their age while the service is down, then updates them", async () => {
  const { service, search, waitUntilRead } = await connectJobs(12);
  await search();
  await waitUntilRead();
  service.isDown = true;
  const staleResult = await until("the outage is noticed", async () => {
    const result = await search();
    return result.reach.asOfMs !== undefined && result;
  });
  expect(staleResult.jobs).toHaveLength(12);
  service.jobs = service.jobs.filter(({ id }) => id !== "job-0004");
  service.isDown = false;
  await until("the deleted job is removed", async () => {
    const { pagination, reach } = await search();
    return pagination.total === 11 && reach.asOfMs === undefined;
  });
});

test("doesn't search earlier jobs of a redirected connection", async () => {
  const [{ connection, search, waitUntilRead }, { server }] = [await connectJobs(5), await connectJobs(2)];
  await search();
  await waitUntilRead();
  const json = { baseUrl: server.url, key: API_KEY, keep: true };
  await sharedHarness.renewCookies();
  const response = await sharedHarness.request(`/api/console/connections/${connection}`, { as: "admin", method: "PUT", json });
  expect(response.status).toBe(200);
  await until("only the new service's jobs are indexed", async () => {
    const { reach, pagination } = await search();
    return reach.extent === "all" && pagination.total === 2;
  });
});

// Requests go to the console that was started last, so tests that start their own console are last.
test("keeps the newest jobs up to the limit and reports it", async () => {
  const { search } = await connectJobs(420, await createFastHarness({ LIGHTDESK_LEDGER_JOBS: "100" }));
  await search("within=8000");
  const { pagination, jobs } = await until("the index is full", async () => {
    const result = await search();
    return result.reach.extent === "newest" && result;
  });
  expect([pagination.total, jobs[0]?.id, jobs.at(-1)?.id]).toEqual([100, "job-0000", "job-0099"]);
});

test("rebuilds a lost job index", async () => {
  const harness = await createFastHarness();
  const { search, waitUntilRead } = await connectJobs(5, harness);
  await search();
  await waitUntilRead();
  await harness.console.stop();
  const database = new SqliteConnection(join(harness.folder, "console.sqlite"));
  database.exec("DELETE FROM ledger_jobs; DELETE FROM ledger_connections;");
  database.close();
  const restarted = startComposition({ env: harness.console.env });
  await restarted.ready;
  try {
    expect((await waitUntilRead()).extent).toBe("all");
    expect((await search()).pagination.total).toBe(5);
  } finally {
    await restarted.stop();
  }
});
