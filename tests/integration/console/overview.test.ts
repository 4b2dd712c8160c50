// The console routes that the overview and the samples use.
import { expect, it } from "vitest";
import { type JobSearchResponse, type RunsByDay } from "@/lib/contract/console";
import { hasSubmittedJobs } from "@/lib/server/queries/jobs";
import { createHarness } from "@/tests/support/harness";
import { openTestServer } from "@/tests/support/servers";
import { sendJsonResponse } from "@/tests/support/test-server";
import { until } from "@/tests/support/until";

// Starts at noon, so that no new day begins. Runs fast, since the job index reads a page every 5 s.
const [startMs, noonMs] = [Date.now(), new Date().setUTCHours(12, 0, 0, 0)];
const now = () => noonMs + 50 * (Date.now() - startMs);
const harness = await createHarness({ now });

it("returns the requested node classes that the service lacks", async () => {
  const response = await harness.request("/api/console/lacking-classes?names=EmptyImage,KSampler,ImageAddNoise,toString", { as: "viewer" });
  expect([response.status, await response.json()]).toEqual([200, { lacking: ["KSampler", "toString"] }]);
  const withCommas = await harness.request("/api/console/lacking-classes?names=EmptyImage&names=Crop%2C%20then%20scale", { as: "viewer" });
  expect(await withCommas.json()).toEqual({ lacking: ["Crop, then scale"] });
});

it("marks each connection as used after a submission or a cleared history", async () => {
  const server = await startJobService(() => []);
  const freshConnection = await harness.connect(server.url, "one-key");
  const clearedConnection = await harness.connect(server.url, "two-keys");
  const clearRequest = { as: "operator", method: "POST", json: { clear: true } } as const;
  expect((await harness.request(`/api/history?connection=${clearedConnection}`, clearRequest)).status).toBeLessThan(300);
  const context = harness.getContext("viewer");
  expect([await hasSubmittedJobs(context, freshConnection), await hasSubmittedJobs(context, clearedConnection)]).toEqual([false, true]);
});

it("reports a failure instead of missing classes when the service is down", async () => {
  const connection = await harness.connect("http://127.0.0.1:1", "key");
  for (const path of ["lacking-classes?names=EmptyImage&", "runs-by-day?"]) {
    const response = await harness.request(`/api/console/${path}connection=${connection}`, { as: "viewer" });
    expect(response.status).toBe(502);
  }
});

it("counts runs in a valid time zone and rejects an unknown one", async () => {
  const response = await harness.request("/api/console/runs-by-day?zone=Asia/Shanghai", { as: "viewer" });
  const { days, jobs } = await response.json();
  expect([response.status, days.length, jobs]).toEqual([200, 14, 0]);
  const refusal = await harness.request("/api/console/runs-by-day?zone=Nowhere/Land", { as: "viewer" });
  expect([refusal.status, (await refusal.json()).code]).toEqual([400, "INVALID_QUERY"]);
});

it("counts more than one page of runs and reports how far back it reaches", async () => {
  const newestMs = now();
  const states = ["completed", "failed", "cancelled", "odd"];
  const allJobs = Array.from({ length: 600 }, (_, index) => {
    return { id: `job-${index}`, status: states[index % states.length], create_time: newestMs - index * 60_000 };
  });
  const server = await startJobService(() => allJobs);
  const connection = await harness.connect(server.url, "a-key-of-the-team");
  const readRunsByDay = async (): Promise<RunsByDay> =>
    (await harness.request(`/api/console/runs-by-day?connection=${connection}`, { as: "viewer" })).json();
  const first = await readRunsByDay();
  expect(first.jobs).toBeGreaterThanOrEqual(200);
  expect(first.sinceMs === undefined).toBe(first.jobs === 600);
  const { days } = await until("all jobs are indexed", async () => {
    const current = await readRunsByDay();
    return current.jobs === 600 && current.sinceMs === undefined && current;
  });
  const sum = (name: "completed" | "failed" | "cancelled" | "other") => days.reduce((total, day) => total + day[name], 0);
  expect([sum("completed"), sum("failed"), sum("cancelled"), sum("other")]).toEqual([150, 150, 150, 150]);
});

it("marks days as incomplete until missed jobs are read", async () => {
  const dayMs = 24 * 60 * 60_000;
  const nowMs = now();
  const createJob = (id: string, create_time: number) => ({ id, status: "completed", create_time });
  let allJobs = Array.from({ length: 20 }, (_, index) => createJob(`old-${index}`, nowMs - 10 * dayMs - index));
  const server = await startJobService(() => allJobs);
  const connection = await harness.connect(server.url, "a-key-of-the-team");
  const getJson = async <T>(path: string) =>
    (await (await harness.request(`/api/console/${path}connection=${connection}`, { as: "viewer" })).json()) as T;
  const readRunsByDay = () => getJson<RunsByDay>("runs-by-day?zone=UTC&");
  const readReach = async () => (await getJson<JobSearchResponse>("jobs/search?")).reach;
  await until("all jobs are indexed", async () => (await readReach()).extent === "all");
  // 100 jobs on each of the four days before yesterday, and enough today to fill the newest page.
  const olderJobs = [2, 3, 4, 5].flatMap((ago) =>
    Array.from({ length: 100 }, (_, index) => createJob(`day-${ago}-${index}`, nowMs - ago * dayMs - index)),
  );
  allJobs = [...Array.from({ length: 250 }, (_, index) => createJob(`now-${index}`, nowMs - index)), ...olderJobs, ...allJobs];
  const first = await readRunsByDay();
  const getUnreadDays = ({ days }: RunsByDay) => days.flatMap(({ isUnread }, index) => (isUnread ? [index] : []));
  // The gap is between the newest indexed job, ten days ago, and the oldest job of the newest page.
  expect(getUnreadDays(first)).toEqual([3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13]);
  const last = await until("all jobs are indexed", async () => {
    const current = await readRunsByDay();
    return getUnreadDays(current).length === 0 && current;
  });
  expect(last.days.map(({ completed }) => completed)).toEqual([0, 0, 0, 20, 0, 0, 0, 0, 100, 100, 100, 100, 0, 250]);
  // Now the newest page overlaps the indexed jobs.
  allJobs = [createJob("next", nowMs + 1), ...allJobs];
  expect(getUnreadDays(await readRunsByDay())).toEqual([]);
});

it("reports a partial search when jobs in between are missing", async () => {
  const nowMs = now();
  const createJobs = (length: number, firstId: number, newestMs: number) =>
    Array.from({ length }, (_, index) => ({ id: `job-${firstId + index}`, status: "completed", create_time: newestMs - index }));
  let allJobs = createJobs(5, 0, nowMs - 90_000_000);
  const server = await startJobService(() => allJobs);
  const connection = await harness.connect(server.url, "a-key-of-the-team");
  const searchJobs = async (): Promise<JobSearchResponse> =>
    (await harness.request(`/api/console/jobs/search?connection=${connection}`, { as: "viewer" })).json();
  await until("all jobs are indexed", async () => (await searchJobs()).reach.extent === "all");
  allJobs = [...createJobs(600, 1000, nowMs), ...allJobs];
  const { reach, pagination } = await until("the newest jobs are indexed", async () => {
    const current = await searchJobs();
    return current.pagination.total !== 5 && current;
  });
  // On a busy machine, all of them may be indexed already.
  expect(reach).toMatchObject(pagination.total === 605 ? { extent: "all" } : { extent: "reading", sinceMs: nowMs - 199 });
});

it("counts jobs of a truncated list without times", async () => {
  const pagination = { offset: 0, limit: 1, total: 9, has_more: true };
  const jobs = [{ id: "one", status: "completed" }];
  const server = await openTestServer((_, response) => sendJsonResponse(response, { jobs, pagination }));
  const connection = await harness.connect(server.url, "a-key-of-the-team");
  const reply = await harness.request(`/api/console/runs-by-day?zone=UTC&connection=${connection}`, { as: "viewer" });
  expect(reply.status).toBe(200);
  const { days, ...summary } = await reply.json();
  expect([days.length, summary]).toEqual([14, { jobs: 0 }]);
});

/** Starts a service that only lists jobs, newest first. */
function startJobService(jobs: () => readonly { id: string }[]) {
  return openTestServer(({ url }, response) => {
    const { pathname, searchParams: query } = new URL(url, "http://any");
    const item = jobs().find(({ id }) => pathname.endsWith(`/${id}`));
    if (item) return sendJsonResponse(response, item);
    const [offset, limit] = [Number(query.get("offset")), Number(query.get("limit"))];
    const total = jobs().length;
    sendJsonResponse(response, {
      jobs: jobs().slice(offset, offset + limit),
      pagination: { offset, limit, total, has_more: offset + limit < total },
    });
  });
}
