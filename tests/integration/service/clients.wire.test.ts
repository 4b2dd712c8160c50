// Requests of existing clients, including older endpoints.
import { describe, expect, it } from "vitest";
import { revertAllChanges } from "@/tests/support/client-changes";
import { clientControls, type Graph, publicClients } from "@/tests/support/public-clients";
import { createHttpClient, createKey, openServiceProcess } from "@/tests/support/service-process";
import { until } from "@/tests/support/until";
import {
  asRecord,
  asRecords,
  asString,
  createColorGraph,
  createPng,
  createWaitGraph,
  type Json,
  loadSampleGraph,
  submitGraph,
  waitForEnd,
} from "./support";

const { client, dataDir, service } = await openServiceProcess();

const failingGraph = {
  "1": { class_type: "EmptyImage", inputs: { width: 8, height: 8, batch_size: 1, color: 5 } },
  "2": { class_type: "Fail", inputs: { message: "no more paper", anything: ["1", 0] } },
  "3": { class_type: "PreviewImage", inputs: { images: ["2", 0] } },
};

describe("the older history format", () => {
  it("is a map by id, oldest first, with limit and offset", async () => {
    const ids: string[] = [];
    for (const color of [1, 2, 3])
      ids.push(await submitGraph(client, createColorGraph(color), { client_id: "c", extra_data: { note: "n" } }));
    for (const id of ids) await waitForEnd(client, id);
    const all = asRecord((await client.get("/api/history")).body);
    expect(Object.keys(all)).toEqual(ids);
    expect(all[ids[1] ?? ""]).toMatchObject({
      prompt: [expect.any(Number), ids[1], createColorGraph(2), { note: "n", client_id: "c" }, ["2"]],
      outputs: { "2": { images: [{ type: "output" }] } },
      status: { status_str: "success", completed: true },
      meta: { "2": { node_id: "2" } },
    });
    const listIds = async (query: string) => Object.keys(asRecord((await client.get(`/api/history?${query}`)).body));
    expect(await listIds("max_items=2")).toEqual(ids.slice(1));
    expect(await listIds("max_items=1&offset=1")).toEqual(ids.slice(1, 2));
    expect(await listIds("offset=3")).toEqual([]);
    expect((await client.get("/api/history?max_items=none")).status).toBe(400);
    expect((await client.get(`/api/history/${ids[0]}`)).body).toEqual({ [ids[0] ?? ""]: all[ids[0] ?? ""] });
  });

  it("is empty for unknown, unfinished and other users' jobs", async () => {
    const runningId = await submitGraph(client, createWaitGraph(600));
    const otherUser = createHttpClient(service.url, await createKey(dataDir, "eve"));
    for (const [user, id] of [
      [client, runningId],
      [client, crypto.randomUUID()],
      [otherUser, runningId],
    ] as const)
      // prettier-ignore
      expect(await user.get(`/api/history/${id}`)).toMatchObject({ status: 200, body: {} });
    expect((await client.post(`/api/job/${runningId}/cancel`)).body).toEqual({ cancelled: true });
    expect((await client.post(`/api/job/${runningId}/cancel`)).body).toEqual({ cancelled: false });
    expect((await otherUser.post(`/api/job/${runningId}/cancel`)).status).toBe(404);
  });
});

it("reports an error only for failed jobs in both histories", async () => {
  const [failedId, completedId] = [await submitGraph(client, failingGraph), await submitGraph(client, createColorGraph(77))];
  await waitForEnd(client, failedId);
  await waitForEnd(client, completedId);
  for (const path of ["/api/history", "/api/history_v2"]) {
    expect(asRecord(asRecord((await client.get(`${path}/${failedId}`)).body)[failedId])).toMatchObject({ error_message: "no more paper" });
    expect(asRecord(asRecord((await client.get(`${path}/${completedId}`)).body)[completedId])).not.toHaveProperty("error_message");
  }
  const json = asRecords(asRecord((await client.get("/api/history_v2")).body).history).find((entry) => entry.prompt_id === failedId);
  expect(json).toMatchObject({ error_message: "no more paper" });
});

it("includes hash and job_id next to asset_hash and prompt_id in assets", async () => {
  const id = await submitGraph(client, createColorGraph(99));
  await waitForEnd(client, id);
  const assets = asRecords(asRecord((await client.get("/api/assets?include_tags=output&include_public=false&limit=1")).body).assets);
  expect(assets[0]).toMatchObject({ prompt_id: id, job_id: id, hash: assets[0]?.asset_hash });
  const json = asRecord((await client.upload(createPng(3, 3), "a.png")).body);
  expect(json).toMatchObject({ hash: json.asset_hash, job_id: null });
});

it("serves system_stats, one class of object_info and free", async () => {
  expect((await client.get("/api/system_stats")).body).toMatchObject({
    system: { os: process.platform, ram_total: expect.any(Number), argv: [] },
    devices: [{ type: "cpu", vram_total: expect.any(Number) }],
  });
  const all = asRecord((await client.get("/api/object_info")).body);
  expect((await client.get("/api/object_info/SaveImage")).body).toEqual({ SaveImage: all.SaveImage });
  for (const name of ["NoSuchClass", "__proto__", "constructor"]) expect((await client.get(`/api/object_info/${name}`)).text).toBe("{}");
  for (const body of [undefined, { unload_models: true }])
    expect(await client.post("/api/free", body)).toMatchObject({ status: 200, text: "" });
});

/** Removes the free memory, which changes between two requests. */
const removeFreeMemory = (body: string) => body.replaceAll(/("\w*_free":)\d+/g, "$1");

it("serves every path without /api after the same key check", async () => {
  const anonymous = createHttpClient(service.url, "ld-nothing");
  for (const path of ["/jobs", "/queue", "/prompt", "/history_v2", "/userdata?dir=%2F", "/system_stats", "/user"]) {
    expect(removeFreeMemory((await client.get(path)).text), path).toBe(removeFreeMemory((await client.get(`/api${path}`)).text));
    expect((await anonymous.get(path)).status, path).toBe(401);
  }
  expect(await anonymous.get("/health")).toMatchObject({ status: 200, body: { status: "ok" } });
  expect((await client.get("/nothing")).status).toBe(404);
  expect((await client.call("PUT", "/userdata/a%2Fb.json", "{}")).status).toBe(405);
  expect((await client.post("/userdata/a%2Fb.json", "{}")).status).toBe(200);
  expect((await client.get("/api/userdata/a%2Fb.json")).text).toBe("{}");
});

describe("command line client", async () => {
  const { key, service } = await openServiceProcess();

  /** Follows no redirects, like the client. */
  async function request(method: string, path: string, body?: Json): Promise<{ status: number; body: unknown }> {
    const headers = { Accept: "application/json", "Comfy-Usage-Source": "comfy-cli", "X-API-Key": key };
    const response = await fetch(`${service.url}/api/${path}`, {
      method,
      redirect: "error",
      headers: { ...headers, ...(body && { "Content-Type": "application/json" }) },
      ...(body && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    return { status: response.status, body: text === "" ? null : JSON.parse(text) };
  }

  async function run(prompt: Json): Promise<string> {
    const extra_data = { comfy_usage_source: "comfy-cli", api_key_comfy_org: key };
    const response = await request("POST", "prompt", { prompt, client_id: crypto.randomUUID(), extra_data });
    expect(response).toMatchObject({ status: 200, body: { prompt_id: expect.any(String), node_errors: {} } });
    return asString(asRecord(response.body).prompt_id);
  }

  /** Returns undefined while the service responds with 404. */
  async function getHistory(id: string): Promise<Json | undefined> {
    const { status, body } = await request("GET", `history_v2/${id}`);
    expect([200, 404]).toContain(status);
    return status === 404 ? undefined : asRecord(asRecord(body)[id]);
  }

  it("runs a job, polls its status and downloads its output", async () => {
    const id = await run(createColorGraph(0x223344, 32));
    const json = await until("the history entry exists", () => getHistory(id));
    expect(json.status).toMatchObject({ completed: true, status_str: "success" });
    const [output] = Object.values(asRecord(json.outputs));
    const [item] = asRecords(asRecord(output).images);
    const query = new URLSearchParams({
      filename: asString(item?.filename),
      subfolder: asString(item?.subfolder),
      type: asString(item?.type),
    });
    const file = await fetch(`${service.url}/api/view?${query.toString()}`, { headers: { "X-API-Key": key } });
    expect([file.status, new Uint8Array(await file.arrayBuffer())[1]]).toEqual([200, 0x50]);
    // The submission contains the client's key. Later responses must not.
    expect(JSON.stringify([await getHistory(id), (await request("GET", `jobs/${id}`)).body])).not.toContain(key);
  });

  it("lists and cancels jobs and returns 404 for unknown ids", async () => {
    const id = await run(createWaitGraph(600));
    const rows = asRecords(asRecord((await request("GET", "jobs?limit=10")).body).jobs);
    expect(rows.find((row) => row.id === id)).toMatchObject({ status: expect.stringMatching(/^(pending|in_progress)$/) });
    expect(await request("POST", `jobs/${id}/cancel`)).toMatchObject({ status: 200 });
    expect(await request("POST", `jobs/${id}/cancel`)).toMatchObject({ status: 200 });
    expect((await request("GET", `jobs/${id}`)).body).toMatchObject({ status: "cancelled" });
    expect((await request("POST", `jobs/${crypto.randomUUID()}/cancel`)).status).toBe(404);
    expect((await request("GET", `jobs/${crypto.randomUUID()}`)).status).toBe(404);
  });

  it("reports a failed job's cause as an object", async () => {
    const failingGraph = { ...createColorGraph(3), "3": { class_type: "Fail", inputs: { message: "why", anything: ["1", 0] } } };
    const id = await run({ ...failingGraph, "4": { class_type: "PreviewImage", inputs: { images: ["3", 0] } } });
    await until("the history entry exists", () => getHistory(id));
    const error = asRecord(asRecord((await request("GET", `jobs/${id}`)).body).execution_error);
    expect(error).toMatchObject({ node_id: "3", node_type: "Fail", exception_message: "why", traceback: expect.any(Array) });
  });

  it("uploads an asset, lists it with its hash and references it by hash", async () => {
    const form = new FormData();
    form.append("overwrite", "false");
    form.append("image", new Blob([createPng(7, 7)], { type: "image/png" }), "cat.png");
    const response = await fetch(`${service.url}/api/upload/image`, { method: "POST", headers: { "X-API-Key": key }, body: form });
    expect(await response.json()).toMatchObject({
      name: expect.stringMatching(/^[0-9a-f]{64}\.png$/),
      subfolder: "",
      type: expect.any(String),
    });
    const json = asRecord((await request("GET", "assets?limit=20&name_contains=cat")).body);
    expect(json).toMatchObject({
      has_more: false,
      total: 1,
      assets: [{ hash: expect.stringMatching(/^blake3:[0-9a-f]{64}$/), job_id: null }],
    });
    const hash = asString(asRecords(json.assets)[0]?.hash);
    expect(await request("POST", "assets/from-hash", { hash, tags: ["input"] })).toMatchObject({ status: 200, body: { hash } });
  });

  it("reads object_info and system_stats and frees memory", async () => {
    expect(asRecord((await request("GET", "object_info")).body)).toHaveProperty("SaveImage.input");
    expect((await request("GET", "system_stats")).body).toMatchObject({
      devices: [{ vram_total: expect.any(Number), torch_vram_free: expect.any(Number) }],
    });
    expect(await request("POST", "free", { unload_models: true, free_memory: false })).toEqual({ status: 200, body: null });
  });
});

describe("public clients", async () => {
  const { dataDir, service } = await openServiceProcess({ LIGHTDESK_CONCURRENCY: "1" });

  const PNG_SIGNATURE = [0x89, 0x50, 0x4e, 0x47];

  describe.each(Object.keys(publicClients))("the public client %s", (name) => {
    it.each(["", "/api"])("runs a sample, fetches its image and uploads under base path %j", async (basePath) => {
      const key = await createKey(dataDir, `user of ${name}${basePath}`);
      const graph = loadSampleGraph("01-invert") as Graph;
      const outputNode = Object.keys(graph).find((id) => graph[id]?.class_type === "SaveImage") ?? "";
      const runClient = publicClients[name];
      const target = { base: `${service.url}${basePath}`, headers: { "X-API-Key": key } };
      const result = await runClient?.(target, { graph, outputNode, upload: createPng(5, 5) });
      const client = createHttpClient(service.url, key);
      const { jobs } = asRecord((await client.get("/api/jobs")).body) as { jobs: { id: string; status: string }[] };
      expect(jobs.map(({ status }) => status)).toEqual(["completed"]);
      expect([...(result?.picture.subarray(0, 4) ?? [])]).toEqual(PNG_SIGNATURE);
      expect(result).toMatchObject({ queue: { running: 0, pending: 0 }, history: [jobs[0]?.id], system: { os: expect.any(String) } });
      expect(result?.classes).toContain("SaveImage");
      // The uploaded file can be loaded by the returned name.
      if (result?.uploaded !== "") expect((await client.get(`/api/view?filename=${result?.uploaded}&type=input`)).status).toBe(200);
    });

    it.each(["", "/api"])("cancels its jobs and deletes its files under base path %j", async (basePath) => {
      const key = await createKey(dataDir, `second user of ${name}${basePath}`);
      const target = { base: `${service.url}${basePath}`, headers: { "X-API-Key": key } };
      await clientControls[name]?.(target, (controls) => revertAllChanges(createHttpClient(service.url, key), controls));
    });
  });
});
