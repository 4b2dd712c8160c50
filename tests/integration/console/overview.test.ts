// The console routes that the overview and the samples use.
import { expect, it } from "vitest";
import { type JobSearchAnswer, type RunsByDay } from "@/lib/contract/console";
import { hasRunJobs } from "@/lib/server/queries/jobs";
import { createHarness } from "@/tests/support/harness";
import { openTestServer } from "@/tests/support/servers";
import { sendJsonResponse } from "@/tests/support/test-server";
import { until } from "@/tests/support/until";

// From noon, as no day begins meanwhile; fast, as the job index reads a page every 5 s.
const [startMs, noonMs] = [Date.now(), new Date().setUTCHours(12, 0, 0, 0)];
const now = () => noonMs + 50 * (Date.now() - startMs);
const desk = await createHarness({ now });

it("names requested node classes that the service lacks", async () => {
  const response = await desk.request("/api/console/lacking-classes?names=EmptyImage,KSampler,ImageAddNoise,toString", { as: "viewer" });
  expect([response.status, await response.json()]).toEqual([200, { lacking: ["KSampler", "toString"] }]);
  const withCommas = await desk.request("/api/console/lacking-classes?names=EmptyImage&names=Crop%2C%20then%20scale", { as: "viewer" });
  expect(await withCommas.json()).toEqual({ lacking: ["Crop, then scale"] });
});

it("marks each connection as used after a submission or a cleared history", async () => {
  const server = await listing(() => []);
  const [fresh, cleared] = [await desk.connect(server.url, "one-key"), await desk.connect(server.url, "two-keys")];
  const clear = { as: "operator", method: "POST", json: { clear: true } } as const;
  expect((await desk.request(`/api/history?connection=${cleared}`, clear)).status).toBeLessThan(300);
  const context = desk.contextOf("viewer");
  expect([await hasRunJobs(context, fresh), await hasRunJobs(context, cleared)]).toEqual([false, true]);
  await server.close();
});

it("reports a failure instead of missing classes when the service is down", async () => {
  const connection = await desk.connect("http://127.0.0.1:1", "key");
  for (const path of ["lacking-classes?names=EmptyImage&", "runs-by-day?"]) {
    const response = await desk.request(`/api/console/${path}connection=${connection}`, { as: "viewer" });
    expect(response.status).toBe(502);
  }
});

it("counts runs in a zone that there is, and refuses another one", async () => {
  const response = await desk.request("/api/console/runs-by-day?zone=Asia/Shanghai", { as: "viewer" });
  const { days, jobs } = await response.json();
  expect([response.status, days.length, jobs]).toEqual([200, 14, 0]);
  const refusal = await desk.request("/api/console/runs-by-day?zone=Nowhere/Land", { as: "viewer" });
  expect([refusal.status, (await refusal.json()).code]).toEqual([400, "INVALID_QUERY"]);
});

it("counts more than one page of runs and reports how far back it reaches", async () => {
  const newestMs = now();
  const states = ["completed", "failed", "cancelled", "odd"];
  const all = Array.from({ length: 1500 }, (_, index) => {
    const create_time = newestMs - index * 60_000;
    return { id: `job-${index}`, status: states[index % states.length], create_time };
  });
  const server = await listing(() => all);
  const connection = await desk.connect(server.url, "a-key-of-the-team");
  const runs = async () =>
    (await (await desk.request(`/api/console/runs-by-day?connection=${connection}`, { as: "viewer" })).json()) as RunsByDay;
  const first = await runs();
  expect(first.jobs).toBeGreaterThanOrEqual(200);
  expect(first.sinceMs === undefined).toBe(first.jobs === 1500);
  const last = await until("all jobs are read", async () => {
    const now = await runs();
    return now.jobs === 1500 && now.sinceMs === undefined && now;
  });
  const sum = (name: "completed" | "failed" | "cancelled" | "other") => last.days.reduce((total, day) => total + day[name], 0);
  expect([sum("completed"), sum("failed"), sum("cancelled"), sum("other")]).toEqual([375, 375, 375, 375]);
  await server.close();
});

it("marks days as incomplete until missed jobs are read", async () => {
  const day = 24 * 60 * 60_000;
  const nowMs = now();
  const jobAt = (id: string, create_time: number) => ({ id, status: "completed", create_time });
  let all = Array.from({ length: 20 }, (_, index) => jobAt(`old-${index}`, nowMs - 10 * day - index));
  const server = await listing(() => all);
  const connection = await desk.connect(server.url, "a-key-of-the-team");
  const getJson = async <T>(path: string) =>
    (await (await desk.request(`/api/console/${path}connection=${connection}`, { as: "viewer" })).json()) as T;
  const runs = () => getJson<RunsByDay>("runs-by-day?zone=UTC&");
  const reach = async () => (await getJson<JobSearchAnswer>("jobs/search?")).reach;
  await until("what there is is read", async () => (await reach()).extent === "all");
  // A hundred on each of the four days before yesterday, and enough today that the newest page shows none of them.
  const came = [2, 3, 4, 5].flatMap((ago) =>
    Array.from({ length: 100 }, (_, index) => jobAt(`day-${ago}-${index}`, nowMs - ago * day - index)),
  );
  all = [...Array.from({ length: 250 }, (_, index) => jobAt(`now-${index}`, nowMs - index)), ...came, ...all];
  const first = await runs();
  const unread = ({ days }: RunsByDay) => days.flatMap(({ isUnread }, index) => (isUnread ? [index] : []));
  // From the newest known job, ten days ago, to the oldest job of the newest page.
  expect(unread(first)).toEqual([3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13]);
  const last = await until("all of it is read", async () => {
    const now = await runs();
    return unread(now).length === 0 && now;
  });
  expect(last.days.map(({ completed }) => completed)).toEqual([0, 0, 0, 20, 0, 0, 0, 0, 100, 100, 100, 100, 0, 250]);
  // From here, the newest page joins the known jobs.
  all = [jobAt("next", nowMs + 1), ...all];
  expect(unread(await runs())).toEqual([]);
  await server.close();
});

it("doesn't claim a full search when jobs in between are missing", async () => {
  const nowMs = now();
  const jobAt = (id: number, create_time: number) => ({ id: `job-${id}`, status: "completed", create_time });
  let all = Array.from({ length: 5 }, (_, index) => jobAt(index, nowMs - 90_000_000 - index));
  const server = await listing(() => all);
  const connection = await desk.connect(server.url, "a-key-of-the-team");
  const searchJobs = async () =>
    (await (await desk.request(`/api/console/jobs/search?connection=${connection}`, { as: "viewer" })).json()) as JobSearchAnswer;
  await until("what there is is read", async () => (await searchJobs()).reach.extent === "all");
  all = [...Array.from({ length: 600 }, (_, index) => jobAt(1000 + index, nowMs - index)), ...all];
  const between = await until("the newest are there", async () => {
    const now = await searchJobs();
    return now.pagination.total !== 5 && now;
  });
  const isWhole = between.pagination.total === 605;
  expect(between.reach.extent).toBe(isWhole ? "all" : "reading");
  if (!isWhole) expect(between.reach.sinceMs).toBe(nowMs - 199);
  await until("all of it is read", async () => {
    const { reach, pagination } = await searchJobs();
    return reach.extent === "all" && pagination.total === 605;
  });
  await server.close();
});

it("counts jobs of a truncated list without times", async () => {
  const server = await openTestServer((_, response) =>
    sendJsonResponse(response, {
      jobs: [{ id: "one", status: "completed" }],
      pagination: { offset: 0, limit: 1, total: 9, has_more: true },
    }),
  );
  const connection = await desk.connect(server.url, "a-key-of-the-team");
  const reply = await desk.request(`/api/console/runs-by-day?zone=UTC&connection=${connection}`, { as: "viewer" });
  expect(reply.status).toBe(200);
  const { days, ...said } = await reply.json();
  expect([days.length, said]).toEqual([14, { jobs: 0 }]);
  await server.close();
});

/** Another service with a list of jobs, newest first, and nothing else. */
function listing(jobs: () => readonly { id: string }[]) {
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
