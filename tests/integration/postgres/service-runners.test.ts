// Two services on one PostgreSQL send jobs to the same runners: slots count over both, the other service follows the jobs of a dead one,
// and each runner is checked once for both.
import { afterEach, beforeEach, expect, it } from "vitest";
import { canvas, detail, ended, type Json, png, submit } from "@/tests/integration/service/support";
import { gpuClasses } from "@/tests/support/gpu-classes";
import { ask } from "@/tests/support/postgres-server";
import { type RunnerServer, startRunnerServer } from "@/tests/support/runner-server";
import { type Client } from "@/tests/support/service";
import { startTwoServices, type TwoServices } from "@/tests/support/two-services";
import { until } from "@/tests/support/until";

const graphOf = (seed: number): Json => ({
  "1": { class_type: "LoadModel", inputs: { model: "one.safetensors" } },
  "2": { class_type: "Sample", inputs: { model: ["1", 0], seed, prompt: "" } },
  "3": { class_type: "SaveImage", inputs: { images: ["2", 0], filename_prefix: "x" } },
});

let two: TwoServices;
let server: RunnerServer;
let here: Client;
let there: Client;
let looks = 0;
beforeEach(async () => {
  two = await startTwoServices({ concurrency: 1, runnerCheckMs: 60_000, runnerLeaseMs: 20_000 });
  ({ here, there } = await two.clients());
  const bytes = Buffer.from(png(8, 8));
  server = await startRunnerServer({ objectInfo: gpuClasses(["one.safetensors"]), makes: () => ({ files: [{ name: "x.png", bytes }] }) });
  looks = 0;
  server.faults.set("GET /system_stats", async (_request, _response, real) => {
    looks += 1;
    await real();
  });
});
afterEach(async () => {
  await two.dispose();
  await server.close();
});

it("shows the slots that both have for what runs inside, until one of them ends", async () => {
  const slots = async () => (await two.here.service.runners.list()).find(({ address }) => address === null)?.slots;
  await until("both are known", async () => (await slots()) === 2);
  await two.there.service.stop();
  expect(await slots()).toBe(1);
  await two.there.service.start();
});

it("never sends more to a runner than its slots, whichever of the two takes a job, and each job once", async () => {
  const added = await two.here.service.runners.add({ address: server.address, label: "A", slots: 2 });
  expect(added.ok).toBe(true);
  await until("both know it", async () => (await there.get("/api/object_info/LoadModel")).text.includes("one.safetensors"));
  const sent = await Promise.all(Array.from({ length: 24 }, (_, seed) => submit(seed % 2 ? here : there, graphOf(seed))));
  for (const id of sent) expect(await ended(there, id)).toMatchObject({ status: "completed", outputs_count: 1 });
  expect(server.seen.ran).toHaveLength(24);
  // For each attempt: how many had begun before and not ended yet. The times are those of the commits, which take turns.
  const most = `SELECT max(n)::integer AS n FROM (SELECT count(*) AS n FROM lightdesk_service.attempts AS one
    JOIN lightdesk_service.attempts AS other ON other.started_at <= one.started_at AND other.ended_at > one.started_at GROUP BY one.job_seq) AS counts`;
  expect((await ask<{ n: number }>(two.url, most))[0]?.n).toBeLessThanOrEqual(2);
});

it("begins what the built-in runner can do while others wait that only a busy one can, whichever is asked, and these when that is free", async () => {
  await two.here.service.runners.add({ address: server.address, label: "A" });
  await until("both know it", async () => (await there.get("/api/object_info/LoadModel")).text.includes("one.safetensors"));
  server.does("hold");
  const first = await submit(here, graphOf(0));
  await until("it is there", () => server.seen.ran.length === 1);
  const waits = await Promise.all(Array.from({ length: 40 }, (_, seed) => submit(seed % 2 ? here : there, graphOf(seed + 1))));
  for (const client of [here, there]) {
    expect((await ended(client, await submit(client, canvas(5)))).status).toBe("completed");
    await Promise.all(waits.splice(0, 10).map((id, at) => (at % 2 ? here : there).post("/api/jobs/cancel", { job_ids: [id] })));
  }
  expect(server.seen.ran).toHaveLength(1);
  server.does("run");
  server.letGo();
  for (const id of [first, ...waits]) expect((await ended(there, id)).status).toBe("completed");
  expect(server.seen.ran).toHaveLength(1 + waits.length);
});

it("begins a job that only one of many free runners can do, though there are more of them than processes ask for at once", async () => {
  const others = await Promise.all(Array.from({ length: 7 }, () => startRunnerServer({ objectInfo: gpuClasses(["another.safetensors"]) })));
  try {
    for (const { address } of others) expect((await two.here.service.runners.add({ address, label: `B ${address}` })).ok).toBe(true);
    expect((await two.here.service.runners.add({ address: server.address, label: "A" })).ok).toBe(true);
    // In each round the other runners are free, and their last look through the queue may have found nothing.
    for (let seed = 0; seed < 5; seed += 1) {
      const id = await submit(seed % 2 ? there : here, graphOf(seed));
      expect(await ended(here, id)).toMatchObject({ status: "completed", runner: { label: "A" } });
    }
  } finally {
    for (const other of others) await other.close();
  }
});

it("follows at the other what a service had sent that is cut off, and submits nothing twice", async () => {
  await two.here.service.runners.add({ address: server.address, label: "A", slots: 2 });
  await until("both know it", async () => (await there.get("/api/object_info/LoadModel")).text.includes("one.safetensors"));
  await two.here.service.stop();
  server.does("hold");
  const id = await submit(there, graphOf(1));
  await until("it is there", () => server.seen.ran.length === 1);
  await two.here.service.start();
  two.wire.cut();
  const job = `SELECT fence::integer, holder IN (SELECT id FROM lightdesk_service.processes) AS "isHeld" FROM lightdesk_service.jobs`;
  await until("it is followed here", async () => (await ask<{ fence: number; isHeld: boolean }>(two.url, job))[0]?.fence === 2);
  two.wire.mend();
  server.letGo();
  expect(await ended(here, id)).toMatchObject({ status: "completed", outputs_count: 1, runner: { label: "A", attempt: 1 } });
  expect([server.seen.submissions.length, server.seen.interrupts.length]).toEqual([1, 0]);
  await until("the other one answers again", async () => (await detail(there, id)).status === "completed");
  const outputs = "SELECT count(*)::integer AS n FROM lightdesk_service.assets WHERE origin = 'output'";
  expect(await ask(two.url, outputs)).toEqual([{ n: 1 }]);
});

it("follows at the other what a service had sent that stops, and interrupts there what is cancelled here", async () => {
  await two.here.service.runners.add({ address: server.address, label: "A" });
  await until("both know it", async () => (await there.get("/api/object_info/LoadModel")).text.includes("one.safetensors"));
  await two.here.service.stop();
  server.does("hold");
  const id = await submit(there, graphOf(1));
  await until("it is there", () => server.seen.ran.length === 1);
  await two.here.service.start();
  await two.there.service.stop();
  const fence = "SELECT fence::integer FROM lightdesk_service.jobs";
  await until("it is followed here", async () => (await ask<{ fence: number }>(two.url, fence))[0]?.fence === 2);
  await here.post("/api/interrupt");
  expect((await ended(here, id)).status).toBe("cancelled");
  await until("it is not there any more", () => server.queue().running === undefined);
  await two.there.service.start();
});

it("is looked at once for both, and what is changed at one is known at the other", async () => {
  const added = await two.here.service.runners.add({ address: server.address, label: "A" });
  if (!added.ok) throw new Error(added.failure.message);
  const before = looks;
  await two.there.service.stop();
  await two.there.service.start();
  const id = await submit(there, graphOf(1));
  await ended(there, id);
  expect(looks).toBe(before);
  await two.here.service.runners.change(added.value.id, { state: "paused" });
  const waits = await submit(there, graphOf(2));
  await until("it is known there", async () => JSON.stringify(await detail(there, waits)).includes("paused"));
  await there.post("/api/queue", { clear: true });
});

it("adds an address once, however many services are asked at the same time", async () => {
  const { address } = server;
  const all = [two.here, two.there, two.here, two.there].map(({ service }) => service.runners.add({ address }));
  const outcomes = (await Promise.all(all)).map((one) => (one.ok ? "added" : one.failure.code)).sort();
  expect(outcomes).toEqual(["added", "taken", "taken", "taken"]);
  expect(await two.here.service.runners.add({ address, keep: true })).toMatchObject({ failure: { code: "taken" } });
});
