// What the overview and the samples ask of the console.
import { afterAll, beforeAll, expect, it } from "vitest";
import { type RunsByDay } from "@/lib/contract/console";
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
  const server = await startLittleServer(({ url }, response) => {
    const { pathname, searchParams: query } = new URL(url, "http://any");
    const one = all.find(({ id }) => pathname.endsWith(`/${id}`));
    if (one) return answerJson(response, one);
    const [offset, limit] = [Number(query.get("offset")), Number(query.get("limit"))];
    const pagination = { offset, limit, total: all.length, has_more: offset + limit < all.length };
    answerJson(response, { jobs: all.slice(offset, offset + limit), pagination });
  });
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
