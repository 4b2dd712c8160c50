// What the overview and the samples ask of the console.
import { afterAll, beforeAll, expect, it } from "vitest";
import { createHarness, type Harness } from "@/tests/support/harness";

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
