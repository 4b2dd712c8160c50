// Runner administration through the API, with validation errors and the audit log.
import { expect, test } from "vitest";
import { type AuditPage } from "@/lib/contract/audit/audit";
import { type Runner, type RunnerCheck, type RunnerSaved } from "@/lib/contract/runners/runners";
import { createConnectionClient } from "@/tests/support/connection-client";
import { createGpuClasses } from "@/tests/support/gpu-classes";
import { createHarness } from "@/tests/support/harness";
import { openTestServer, startRunnerServer } from "@/tests/support/servers";
import { sendJsonResponse } from "@/tests/support/test-server";
import { until } from "@/tests/support/until";

const harness = await createHarness();
const server = await openTestServer(({ url }, response) => {
  const gpu = { name: "cuda:0 Studio GPU", type: "cuda", vram_total: 24_000_000_000, vram_free: 6_000_000_000 };
  if (url === "/system_stats") return sendJsonResponse(response, { system: { comfyui_version: "0.27.0" }, devices: [gpu] });
  if (url === "/queue") return sendJsonResponse(response, { queue_running: [], queue_pending: [] });
  if (url === "/object_info") return sendJsonResponse(response, { LoadModel: { input: { required: {} }, output: ["MODEL"] } });
  return sendJsonResponse(response, {}, url.startsWith("/history/") ? 200 : 404);
});

const path = "/api/console/runners";
const request = (url: string, method: string, json?: object) => harness.request(url, { as: "admin", method, json });
const save = async (url: string, method: string, json: object): Promise<RunnerSaved> => (await request(url, method, json)).json();
const listRunners = async (): Promise<Runner[]> => (await (await harness.request(path, { as: "admin" })).json()).runners;
async function listAuditEntries(count: number) {
  const page: AuditPage = await (await harness.request(`/api/console/audit?limit=${count}`, { as: "admin" })).json();
  return page.entries.map(({ action, target, outcome, status }) => ({ action, target, outcome, status }));
}

test("checks, adds, changes, pauses and removes a runner, with audit entries", async () => {
  const { check }: { check: RunnerCheck } = await (await request(`${path}/check`, "POST", { address: server.url })).json();
  expect(check).toMatchObject({ ok: true, facts: { version: "0.27.0", classes: 1, devices: [{ vramTotal: 24_000_000_000 }] } });
  expect(await listRunners()).toHaveLength(1);

  const addResponse = await request(path, "POST", { address: `${server.url}/`, label: " Studio GPU ", tags: ["fast", "fast"], slots: 2 });
  expect(addResponse.status).toBe(201);
  const { runner }: RunnerSaved = await addResponse.json();
  expect(runner).toMatchObject({ address: server.url, label: "Studio GPU", tags: ["fast"], slots: 2, state: "ready", version: "0.27.0" });
  expect((await listRunners()).map(({ label }) => label)).toContain("Studio GPU");
  expect((await request(path, "POST", { address: server.url })).status, "the same address again").toBe(409);

  const runnerPath = `${path}/${runner?.id}`;
  const changes = { label: "Studio", tags: [] };
  expect(await save(runnerPath, "PATCH", changes)).toMatchObject({ runner: { ...changes, slots: 2 } });
  expect(await save(`${runnerPath}/state`, "PUT", { state: "paused" })).toMatchObject({ runner: { state: "paused" } });
  expect((await request(runnerPath, "DELETE")).status).toBe(204);
  expect(await listRunners()).toHaveLength(1);
  expect((await request(runnerPath, "DELETE")).status).toBe(404);
  expect((await listAuditEntries(7)).reverse()).toEqual([
    { action: "checkRunner", target: server.url, outcome: "fine", status: 200 },
    { action: "addRunner", target: "Studio GPU", outcome: server.url, status: 201 },
    expect.objectContaining({ action: "addRunner", status: 409 }),
    expect.objectContaining({ action: "changeRunner", target: "Studio", status: 200 }),
    expect.objectContaining({ action: "setRunnerState", target: "Studio", outcome: "paused", status: 200 }),
    expect.objectContaining({ action: "removeRunner", target: "Studio", status: 204 }),
    expect.objectContaining({ action: "removeRunner", status: 404 }),
  ]);
});

test("adds an unresponsive runner only on demand", async () => {
  const address = "http://127.0.0.1:9";
  const refusal = await request(path, "POST", { address, label: "Asleep" });
  expect(refusal.status).toBe(200);
  expect(await refusal.json()).toMatchObject({ problem: { code: "not_reachable", message: expect.any(String) } });
  expect(await listRunners()).toHaveLength(1);
  expect(await listAuditEntries(1)).toMatchObject([{ action: "checkRunner", target: address, outcome: "not_reachable, not saved" }]);

  const { runner } = await save(path, "POST", { address, label: "Asleep", keep: true });
  expect(runner).toMatchObject({ state: "unreachable", reason: { code: "not_reachable" } });
  const { problem } = await save(`${path}/${runner?.id}`, "PATCH", { address: "http://127.0.0.1:11" });
  expect(problem?.code).toBe("not_reachable");
  expect((await listRunners()).map((runner) => runner.address)).toEqual([null, address]);
});

test("names the invalid field and keeps the built-in runner", async () => {
  const response = await request(path, "POST", { address: "ftp://10.0.0.12", label: "x" });
  expect(response.status).toBe(400);
  expect((await response.json()).message).toMatch(/^address: /);
  expect((await request(path, "POST", { address: "http://me:secret@10.0.0.12" })).status).toBe(400);
  const [builtIn] = await listRunners();
  expect(builtIn).toMatchObject({ address: null, state: "ready" });
  expect((await request(`${path}/${builtIn?.id}`, "DELETE")).status).toBe(400);
});

test("reports a job's runner, even if removed, and the runner a job waits for", async () => {
  const gpu = await startRunnerServer({ objectInfo: createGpuClasses(["house.safetensors"]) });
  const createGraph = (seed: number) => ({
    "1": { class_type: "LoadModel", inputs: { model: "house.safetensors" } },
    "2": { class_type: "Sample", inputs: { model: ["1", 0], seed, prompt: "a house" } },
    "3": { class_type: "SaveImage", inputs: { images: ["2", 0], filename_prefix: "house" } },
  });
  const { getJson, post } = createConnectionClient(harness, "embedded", "owner");
  const submit = async (seed: number) => (await (await post("/api/prompt", { prompt: createGraph(seed) })).json()).prompt_id;
  const readJob = (id: string) => getJson(`/api/jobs/${id}`);
  const { runner } = await save(path, "POST", { address: gpu.address, label: "GPU" });
  const jobId = await submit(1);
  await until("the job completes", async () => (await readJob(jobId)).status === "completed");
  expect(await readJob(jobId)).toMatchObject({ runner: { id: runner?.id, label: "GPU", attempt: 1 } });
  expect(await listRunners()).toContainEqual(expect.objectContaining({ label: "GPU", done: 1, failed: 0 }));

  await request(`${path}/${runner?.id}/state`, "PUT", { state: "paused" });
  const waitingId = await submit(2);
  const waits = { state: "paused", runners: ["GPU"] };
  expect(await readJob(waitingId)).toMatchObject({ status: "pending", waits });
  expect((await getJson("/api/console/queue")).pending).toMatchObject([{ id: waitingId, waits }]);
  await post(`/api/jobs/${waitingId}/cancel`);

  expect((await request(`${path}/${runner?.id}`, "DELETE")).status).toBe(204);
  expect(await readJob(jobId)).toMatchObject({ runner: { label: "GPU" } });
  expect(gpu.seen.submissions).toHaveLength(1);
});
