// The exact calls of the family's official command line client in its cloud mode (run, jobs, upload, download, assets), with its headers
// and bodies, and read as it reads them. It is a Python program, so its requests are written out here.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { createKey, type ServiceProcess, startServiceProcess } from "@/tests/support/service-process";
import { until } from "@/tests/support/until";
import { canvas, type Json, list, png, record, string, waiting } from "./support";

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

let dataDir: string;
let service: ServiceProcess;
let key: string;
beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), "lightdesk-command-line-"));
  service = await startServiceProcess(dataDir);
  key = await createKey(dataDir, "ada");
});
afterAll(async () => {
  await service.stop();
  await rm(dataDir, { recursive: true, force: true });
});

/** Like the client, it follows no redirect except a download's. */
async function ask(method: string, path: string, body?: Json): Promise<{ status: number; body: unknown }> {
  const headers = { Accept: "application/json", "Comfy-Usage-Source": "comfy-cli", "X-API-Key": key };
  const answer = await fetch(`${service.url}/api/${path}`, {
    method,
    redirect: "error",
    headers: { ...headers, ...(body && { "Content-Type": "application/json" }) },
    ...(body && { body: JSON.stringify(body) }),
  });
  const text = await answer.text();
  return { status: answer.status, body: text === "" ? null : JSON.parse(text) };
}

async function run(prompt: Json): Promise<string> {
  const extra_data = { comfy_usage_source: "comfy-cli", api_key_comfy_org: key };
  const answer = await ask("POST", "prompt", { prompt, client_id: crypto.randomUUID(), extra_data });
  expect(answer).toMatchObject({ status: 200, body: { prompt_id: expect.any(String), node_errors: {} } });
  return string(record(answer.body).prompt_id);
}

/** 404 means that there is none yet. */
async function historyOf(id: string): Promise<Json | undefined> {
  const { status, body } = await ask("GET", `history_v2/${id}`);
  expect([200, 404]).toContain(status);
  return status === 404 ? undefined : record(record(body)[id]);
}

it("run, wait and download: the record is done when its status says so, and each file comes from /api/view with the key", async () => {
  const id = await run(canvas(0x223344, 32));
  const done = await until("its record is there", () => historyOf(id));
  expect(done.status).toMatchObject({ completed: true, status_str: "success" });
  const [output] = Object.values(record(done.outputs));
  const [item] = list(record(output).images);
  const query = new URLSearchParams({ filename: string(item?.filename), subfolder: string(item?.subfolder), type: string(item?.type) });
  const file = await fetch(`${service.url}/api/view?${query.toString()}`, { headers: { "X-API-Key": key } });
  expect([file.status, new Uint8Array(await file.arrayBuffer())[1]]).toEqual([200, 0x50]);
  // The client's key is in the body of the submission, and nowhere afterwards.
  expect(JSON.stringify([await historyOf(id), (await ask("GET", `jobs/${id}`)).body])).not.toContain(key);
});

it("jobs ls, status, cancel: known jobs are cancelled and cancelled again, an unknown id is 404", async () => {
  const id = await run(waiting(600));
  const rows = list(record((await ask("GET", "jobs?limit=10")).body).jobs);
  expect(rows.find((row) => row.id === id)).toMatchObject({ status: expect.stringMatching(/^(pending|in_progress)$/) });
  expect(await ask("POST", `jobs/${id}/cancel`)).toMatchObject({ status: 200 });
  expect(await ask("POST", `jobs/${id}/cancel`)).toMatchObject({ status: 200 });
  expect((await ask("GET", `jobs/${id}`)).body).toMatchObject({ status: "cancelled" });
  expect((await ask("POST", `jobs/${crypto.randomUUID()}/cancel`)).status).toBe(404);
  expect((await ask("GET", `jobs/${crypto.randomUUID()}`)).status).toBe(404);
});

it("a job that failed carries its cause as a record", async () => {
  const failing = { ...canvas(3), "3": { class_type: "Fail", inputs: { message: "why", anything: ["1", 0] } } };
  const id = await run({ ...failing, "4": { class_type: "PreviewImage", inputs: { images: ["3", 0] } } });
  await until("its record is there", () => historyOf(id));
  const error = record(record((await ask("GET", `jobs/${id}`)).body).execution_error);
  expect(error).toMatchObject({ node_id: "3", node_type: "Fail", exception_message: "why", traceback: expect.any(Array) });
});

it("upload, then the library: listed with hash and job_id, and made one's own by its hash", async () => {
  const form = new FormData();
  form.append("overwrite", "false");
  form.append("image", new Blob([png(7, 7)], { type: "image/png" }), "cat.png");
  const sent = await fetch(`${service.url}/api/upload/image`, { method: "POST", headers: { "X-API-Key": key }, body: form });
  expect(await sent.json()).toMatchObject({ name: expect.stringMatching(/^[0-9a-f]{64}\.png$/), subfolder: "", type: expect.any(String) });
  const listed = record((await ask("GET", "assets?limit=20&name_contains=cat")).body);
  expect(listed).toMatchObject({
    has_more: false,
    total: 1,
    assets: [{ hash: expect.stringMatching(/^blake3:[0-9a-f]{64}$/), job_id: null }],
  });
  const hash = string(list(listed.assets)[0]?.hash);
  expect(await ask("POST", "assets/from-hash", { hash, tags: ["input"] })).toMatchObject({ status: 200, body: { hash } });
});

it("what it asks before a run and of the machine: the node library, system_stats, free", async () => {
  expect(record((await ask("GET", "object_info")).body)).toHaveProperty("SaveImage.input");
  expect((await ask("GET", "system_stats")).body).toMatchObject({
    devices: [{ vram_total: expect.any(Number), torch_vram_free: expect.any(Number) }],
  });
  expect(await ask("POST", "free", { unload_models: true, free_memory: false })).toEqual({ status: 200, body: null });
});
