// The console routes that the overview and the samples use.
import { afterAll, beforeAll, expect, it } from "vitest";
import { type JobSearchAnswer, type RunsByDay } from "@/lib/contract/console";
import { wasUsed } from "@/lib/server/queries/jobs";
import { createHarness, type Harness } from "@/tests/support/harness";
import { answerJson, startLittleServer } from "@/tests/support/little-server";
import { until } from "@/tests/support/until";

let desk: Harness;
beforeAll(async () => {
  desk = await createHarness();
});
afterAll(() => desk.dispose());

it("names those of the asked node classes that the service lacks", async () => {
  const answer = await desk.request("/api/console/lacking-classes?names=EmptyImage,KSampler,ImageAddNoise,toString", { as: "viewer" });
  expect([answer.status, await answer.json()]).toEqual([200, { lacking: ["KSampler", "toString"] }]);
  const withCommas = await desk.request("/api/console/lacking-classes?names=EmptyImage&names=Crop%2C%20then%20scale", { as: "viewer" });
  expect(await withCommas.json()).toEqual({ lacking: ["Crop, then scale"] });
});

it("knows a connection as used once a job was submitted or the history cleared, and each connection for itself", async () => {
  const server = await listing(() => []);
  const [fresh, cleared] = [await desk.connect(server.url, "one-key"), await desk.connect(server.url, "two-keys")];
  const clear = { as: "operator", method: "POST", json: { clear: true } } as const;
  expect((await desk.request(`/api/history?connection=${cleared}`, clear)).status).toBeLessThan(300);
  const context = desk.contextOf("viewer");
  expect([await wasUsed(context, fresh), await wasUsed(context, cleared)]).toEqual([false, true]);
  await server.close();
});

it("says of a service that is down that it failed, and not that it lacks anything", async () => {
  const connection = await desk.connect("http://127.0.0.1:1", "key");
  for (const path of ["lacking-classes?names=EmptyImage&", "runs-by-day?"]) {
    const answer = await desk.request(`/api/console/${path}connection=${connection}`, { as: "viewer" });
    expect(answer.status).toBe(502);
  }
});

it("counts runs in a zone that there is, and refuses another one", async () => {
  const answer = await desk.request("/api/console/runs-by-day?zone=Asia/Shanghai", { as: "viewer" });
  const { days, jobs } = await answer.json();
  expect([answer.status, days.length, jobs]).toEqual([200, 14, 0]);
  const refused = await desk.request("/api/console/runs-by-day?zone=Nowhere/Land", { as: "viewer" });
  expect([refused.status, (await refused.json()).code]).toEqual([400, "INVALID_QUERY"]);
});

it("counts more runs than a page of the list holds, and says how far back it reaches until all are read", async () => {
  const newestMs = Date.now();
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

it("says of days with jobs that came while nobody looked that they are still being read, and fills them", async () => {
  const day = 24 * 60 * 60_000;
  const nowMs = Date.now();
  const at = (id: string, create_time: number) => ({ id, status: "completed", create_time });
  let all = Array.from({ length: 20 }, (_, index) => at(`old-${index}`, nowMs - 10 * day - index));
  const server = await listing(() => all);
  const connection = await desk.connect(server.url, "a-key-of-the-team");
  const ask = async <T>(path: string) =>
    (await (await desk.request(`/api/console/${path}connection=${connection}`, { as: "viewer" })).json()) as T;
  const runs = () => ask<RunsByDay>("runs-by-day?zone=UTC&");
  const reach = async () => (await ask<JobSearchAnswer>("jobs/search?")).reach;
  await until("what there is is read", async () => (await reach()).extent === "all");
  // A hundred on each of the four days before yesterday, and so many today that the newest page shows none of them.
  const came = [2, 3, 4, 5].flatMap((ago) =>
    Array.from({ length: 100 }, (_, index) => at(`day-${ago}-${index}`, nowMs - ago * day - index)),
  );
  all = [...Array.from({ length: 250 }, (_, index) => at(`now-${index}`, nowMs - index)), ...came, ...all];
  const first = await runs();
  const unread = ({ days }: RunsByDay) => days.flatMap(({ isUnread }, index) => (isUnread ? [index] : []));
  // From the newest job known before, ten days ago, to the oldest job of the newest page.
  expect(unread(first)).toEqual([3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13]);
  const last = await until("all of it is read", async () => {
    const now = await runs();
    return unread(now).length === 0 && now;
  });
  expect(last.days.map(({ completed }) => completed)).toEqual([0, 0, 0, 20, 0, 0, 0, 0, 100, 100, 100, 100, 0, 250]);
  // From now on, the newest page joins the known jobs.
  all = [at("next", nowMs + 1), ...all];
  expect(unread(await runs())).toEqual([]);
  await server.close();
});

it("does not say that all jobs were searched while there are some between", async () => {
  const nowMs = Date.now();
  const at = (id: number, create_time: number) => ({ id: `job-${id}`, status: "completed", create_time });
  let all = Array.from({ length: 5 }, (_, index) => at(index, nowMs - 90_000_000 - index));
  const server = await listing(() => all);
  const connection = await desk.connect(server.url, "a-key-of-the-team");
  const found = async () =>
    (await (await desk.request(`/api/console/jobs/search?connection=${connection}`, { as: "viewer" })).json()) as JobSearchAnswer;
  await until("what there is is read", async () => (await found()).reach.extent === "all");
  all = [...Array.from({ length: 600 }, (_, index) => at(1000 + index, nowMs - index)), ...all];
  const between = await until("the newest are there", async () => {
    const now = await found();
    return now.pagination.total !== 5 && now;
  });
  const isWhole = between.pagination.total === 605;
  expect(between.reach.extent).toBe(isWhole ? "all" : "reading");
  if (!isWhole) expect(between.reach.sinceMs).toBe(nowMs - 199);
  await until("all of it is read", async () => {
    const { reach, pagination } = await found();
    return reach.extent === "all" && pagination.total === 605;
  });
  await server.close();
});

it("counts jobs of a list that is cut and says no time of any of them", async () => {
  const server = await startLittleServer((_, response) =>
    answerJson(response, { jobs: [{ id: "one", status: "completed" }], pagination: { offset: 0, limit: 1, total: 9, has_more: true } }),
  );
  const connection = await desk.connect(server.url, "a-key-of-the-team");
  const answer = await desk.request(`/api/console/runs-by-day?zone=UTC&connection=${connection}`, { as: "viewer" });
  expect(answer.status).toBe(200);
  const { days, ...said } = await answer.json();
  expect([days.length, said]).toEqual([14, { jobs: 0 }]);
  await server.close();
});

/** Another service with a list of jobs, newest first, and nothing else. */
function listing(jobs: () => readonly { id: string }[]) {
  return startLittleServer(({ url }, response) => {
    const { pathname, searchParams: query } = new URL(url, "http://any");
    const one = jobs().find(({ id }) => pathname.endsWith(`/${id}`));
    if (one) return answerJson(response, one);
    const [offset, limit] = [Number(query.get("offset")), Number(query.get("limit"))];
    const total = jobs().length;
    answerJson(response, {
      jobs: jobs().slice(offset, offset + limit),
      pagination: { offset, limit, total, has_more: offset + limit < total },
    });
  });
}
