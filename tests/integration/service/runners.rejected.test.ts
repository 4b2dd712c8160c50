// Addresses without a runner are rejected with a description of the server that responds.
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { BUILT_IN_RUNNER } from "@/lib/contract/runners/runners";
import { submitPrompt } from "@/lib/service/jobs/submit";
import { createPool, formatKind, storeNeeds } from "@/lib/service/runners/pool";
import { createRunners } from "@/lib/service/runners/store";
import { type Database, query } from "@/lib/service/store/database";
import { createSingleProcess } from "@/lib/service/store/processes";
import { createKeys } from "@/lib/service/users/keys";
import { createGpuClasses } from "@/tests/support/gpu-classes";
import { type RunnerServer } from "@/tests/support/runner-server";
import { openTestServer, startRunnerServer } from "@/tests/support/servers";
import { type Client, startService } from "@/tests/support/service";
import { createTestServiceStore } from "@/tests/support/service-store";
import { until } from "@/tests/support/until";
import { createModelGraph, startRunnerService } from "./runner-service";
import { createColorGraph, createGate, listAssets, readJob, submitGraph, waitForStart } from "./support";

describe("runner checks", async () => {
  const { service } = await startService();

  it.each([
    ["a service with keys", (path: string) => [401, path], "cloud_service"],
    ["a web page", () => [200, "<html>"], "not_a_server"],
    ["a redirect", () => [302, ""], "redirects"],
    ["a failing server", () => [500, ""], "failing"],
  ] as const)("rejects %s as a runner and explains why", async (_name, respond, code) => {
    const testServer = await openTestServer(({ url }, response) => {
      const [status, body] = respond(url);
      response.writeHead(Number(status), { location: "http://127.0.0.1:9/" }).end(body);
    });
    expect(await service.runners.check(testServer.url)).toMatchObject({ ok: false, code, message: expect.any(String) });
    expect(await service.runners.add({ address: testServer.url })).toMatchObject({ ok: false, failure: { code } });
    expect(testServer.requests.every(({ headers }) => headers.origin === undefined && headers["x-api-key"] === undefined)).toBe(true);
    await testServer.close();
    expect(await service.runners.check(testServer.url)).toMatchObject({ ok: false, code: "not_reachable" });
    expect((await service.runners.list()).map(({ address }) => address)).not.toContain(testServer.url);
  });

  it.each([
    ["in uppercase", "HTTP://LOCALHOST:9", "http://localhost:9"],
    ["with a lone surrogate", "http://localhost:9/\ud800", "http://localhost:9/\ud800"],
    ["with a null character", "http://localhost:9/a\u0000b", "http://localhost:9/a\u0000b"],
    ["without percent-encoding", "http://localhost:9/ö", "http://localhost:9/%C3%B6"],
    ["with the default port", "http://localhost:80", "http://localhost"],
  ])("adds an address written %s once", async (_name, first, second) => {
    expect(await service.runners.add({ address: first, keep: true })).toMatchObject({ ok: true });
    expect(await service.runners.add({ address: second, keep: true })).toMatchObject({ ok: false, failure: { code: "taken" } });
  });

  it("rejects an address with credentials or too long for the database", async () => {
    expect(await service.runners.check("http://user:secret@127.0.0.1:1")).toMatchObject({ ok: false });
    const outcome = await service.runners.add({ address: `http://localhost:9/${"ö".repeat(1000)}`, keep: true });
    expect(outcome).toMatchObject({ ok: false, failure: { code: "invalid" } });
  });

  it("reports an outdated server and an https address that serves http", async () => {
    const server = await startRunnerServer({ objectInfo: createGpuClasses(["one.safetensors"]) });
    server.faults.set("GET /history/*", (_request, response) => response.writeHead(404).end());
    expect(await service.runners.check(server.address)).toEqual({
      ok: false,
      code: "too_old",
      message: "It has no history per job. Update the server.",
    });
    expect(await service.runners.check(server.address.replace("http:", "https:"))).toEqual({
      ok: false,
      code: "wrong_protocol",
      message: "It uses http, but the address starts with https.",
    });
    server.faults.clear();
    expect(await service.runners.check(server.address)).toMatchObject({ ok: true });
  });
});

it("reports a timeout for an unresponsive server and doesn't add it", async () => {
  const database = await (await createTestServiceStore()).open();
  const unresponsiveServer = await openTestServer(() => undefined);
  const builtIn = { slots: () => Promise.resolve(1), classes: 1 };
  const runners = createRunners({ database, now: Date.now, builtIn, responseTimeoutMs: 100 });
  const failure = { code: "timeout", message: "It did not respond in time." };
  expect(await runners.check(unresponsiveServer.url)).toEqual({ ok: false, ...failure });
  expect(await runners.add({ address: unresponsiveServer.url })).toEqual({ ok: false, failure });
  expect(await runners.list()).toHaveLength(1);
  await database.close();
});

type StaleRun = { client: Client; server: RunnerServer; id: string };

describe("a stale attempt", () => {
  it.each<[string, "hold" | "fail", (run: StaleRun) => unknown]>([
    ["neither completes the job nor stores outputs", "hold", ({ server }) => server.release()],
    ["doesn't fail the job", "fail", ({ server }) => server.release()],
    ["doesn't requeue the job when its runner restarts", "hold", ({ server }) => server.restart()],
    ["doesn't cancel the job", "hold", ({ client, id }) => client.post("/api/interrupt", { prompt_id: id })],
    ["reports no progress and is removed from the runner", "hold", () => undefined],
  ])("%s", async (_name, mode, duringRun) => {
    const { client, service, addRunner } = await startRunnerService({ runnerCheckMs: 60_000, runnerLeaseMs: 600 });
    const server = await addRunner("A");
    const { open, opened } = createGate();
    if (mode === "fail")
      server.faults.set("GET /history/*", async (_request, _response, real) => {
        await opened;
        await real();
      });
    server.setMode(mode);
    const id = await submitGraph(client, createModelGraph());
    await waitForStart(client, id);
    const readAttempts = () => service.queryRows("SELECT state, lease_until, ended_at FROM attempts");
    await service.queryRows(`UPDATE jobs SET fence = fence + 1 WHERE id = '${id}'`);
    const before = await readAttempts();
    open();
    await duringRun({ client, server, id });
    await until("the stale attempt has ended", async () => (await readJob(client, id)).progress === undefined);
    expect(await readJob(client, id)).toMatchObject({ status: "in_progress", runner: { label: "A", attempt: 1 } });
    expect(await listAssets(client)).toEqual([]);
    expect(await readAttempts()).toEqual(before);
    expect(await service.queryRows("SELECT job_seq FROM job_results")).toEqual([]);
    await until("the job is removed from the runner", () => server.queue().running === undefined);
  });
});

describe("stored job requirements", () => {
  let database: Database;
  beforeEach(async () => {
    database = await (await createTestServiceStore()).open();
    await createKeys(database, Date.now).createKey("ada");
  });
  afterEach(() => database.close());

  it("are deleted when unused and stored with a new id later", async () => {
    const pool = await createPool({ database, processes: createSingleProcess(), concurrency: 1 });
    const storeClass = (name: string) => database.commit((tx) => storeNeeds(tx, [{ node: "1", class: name }]));
    const readIds = async () => (await database.rows(query.selectFrom("job_needs").select("id").orderBy("id"))).map(({ id }) => id);
    const canRun = (id: number) => pool.canDo(formatKind(id), BUILT_IN_RUNNER);

    const unusedId = await storeClass("ImageInvert");
    const engine = { enqueue: () => Promise.resolve(), notifySubmitted: () => undefined };
    const waitingJob = await submitPrompt({ database, pool, engine, now: Date.now }, 1, { prompt: createColorGraph() });
    if (!waitingJob.ok) throw new Error(waitingJob.error.message);
    const lastId = await storeClass("SaveImage");
    await database.commit((tx) => tx.run(query.updateTable("runners").set({ last_needs: lastId })));
    const newestId = await storeClass("LoadImage");
    const allIds = [unusedId, waitingJob.needs, lastId, newestId];
    await pool.loadNeeds(allIds);
    expect([await readIds(), allIds.map(canRun)]).toEqual([allIds, [true, true, true, true]]);

    await pool.removeUnusedNeeds();
    expect([await readIds(), allIds.map(canRun)]).toEqual([allIds.slice(1), [false, true, true, true]]);

    const newId = await storeClass("ImageInvert");
    expect(newId).toBeGreaterThan(newestId);
    await pool.loadNeeds([newId]);
    expect(canRun(newId)).toBe(true);
  });

  it("are compared when an earlier version stored them", async () => {
    const pool = await createPool({ database, processes: createSingleProcess(), concurrency: 1 });
    const storeJob = async (hash: string, inputs: string[]) => {
      const text = `[{"node":"1","class":"ImageInvert","given":${JSON.stringify(inputs)},"chosen":[]}]`;
      const row = await database.commit((tx) => tx.row(query.insertInto("job_needs").values({ hash, text }).returning("id")));
      return row?.id ?? 0;
    };
    const ids = [await storeJob("complete", ["image"]), await storeJob("incomplete", [])];
    await pool.loadNeeds(ids);
    expect(ids.map((id) => pool.canDo(formatKind(id), BUILT_IN_RUNNER))).toEqual([true, false]);
  });
});
