// Requests of existing clients, including older endpoints.
import { describe, expect, it } from "vitest";
import { revertAllChanges } from "@/tests/support/client-changes";
import { clientControls, type Graph, publicClients } from "@/tests/support/public-clients";
import { createHttpClient, createKey, openServiceProcess } from "@/tests/support/service-process";
import {
  asRecord,
  asRecords,
  createColorGraph,
  createPng,
  createWaitGraph,
  getRecord,
  listAssets,
  listJobs,
  loadSampleGraph,
  submitGraph,
  waitForEnd,
} from "./support";

const { client, dataDir, service } = await openServiceProcess({ LIGHTDESK_CONCURRENCY: "1" });

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
    const all = await getRecord(client, "/api/history");
    expect(Object.keys(all)).toEqual(ids);
    expect(all[ids[1] ?? ""]).toMatchObject({
      prompt: [expect.any(Number), ids[1], createColorGraph(2), { note: "n", client_id: "c" }, ["2"]],
      outputs: { "2": { images: [{ type: "output" }] } },
      status: { status_str: "success", completed: true },
      meta: { "2": { node_id: "2" } },
    });
    const listIds = async (query: string) => Object.keys(await getRecord(client, `/api/history?${query}`));
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
    expect((await getRecord(client, `${path}/${failedId}`))[failedId]).toMatchObject({ error_message: "no more paper" });
    expect((await getRecord(client, `${path}/${completedId}`))[completedId]).not.toHaveProperty("error_message");
  }
  const { history } = await getRecord(client, "/api/history_v2");
  expect(asRecords(history).find((entry) => entry.prompt_id === failedId)).toMatchObject({ error_message: "no more paper" });
});

it("includes hash and job_id next to asset_hash and prompt_id in assets", async () => {
  const id = await submitGraph(client, createColorGraph(99));
  await waitForEnd(client, id);
  const [output] = await listAssets(client, "include_tags=output&include_public=false&limit=1");
  expect(output).toMatchObject({ prompt_id: id, job_id: id, hash: output?.asset_hash });
  const json = asRecord((await client.upload(createPng(3, 3), "a.png")).body);
  expect(json).toMatchObject({ hash: json.asset_hash, job_id: null });
});

it("serves system_stats, one class of object_info and free", async () => {
  expect((await client.get("/api/system_stats")).body).toMatchObject({
    system: { os: process.platform, ram_total: expect.any(Number), argv: [] },
    devices: [{ type: "cpu", vram_total: expect.any(Number), torch_vram_free: expect.any(Number) }],
  });
  const all = await getRecord(client, "/api/object_info");
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

describe.each(Object.keys(publicClients))("the public client %s", (name) => {
  it("runs a sample, fetches its image and uploads", async () => {
    const key = await createKey(dataDir, `user of ${name}`);
    const graph = loadSampleGraph("01-invert") as Graph;
    const outputNode = Object.keys(graph).find((id) => graph[id]?.class_type === "SaveImage") ?? "";
    const target = { base: service.url, headers: { "X-API-Key": key } };
    const result = await publicClients[name]?.(target, { graph, outputNode, upload: createPng(5, 5) });
    const ownClient = createHttpClient(service.url, key);
    const jobs = await listJobs(ownClient);
    expect(jobs.map(({ status }) => status)).toEqual(["completed"]);
    expect([...(result?.picture.subarray(0, 4) ?? [])]).toEqual([0x89, 0x50, 0x4e, 0x47]);
    expect(result).toMatchObject({ queue: { running: 0, pending: 0 }, history: [jobs[0]?.id], system: { os: expect.any(String) } });
    expect(result?.classes).toContain("SaveImage");
    // The uploaded file can be loaded by the returned name.
    if (result?.uploaded !== "") expect((await ownClient.get(`/api/view?filename=${result?.uploaded}&type=input`)).status).toBe(200);
  });

  it("cancels its jobs and deletes its files", async () => {
    const key = await createKey(dataDir, `second user of ${name}`);
    const target = { base: `${service.url}/api`, headers: { "X-API-Key": key } };
    await clientControls[name]?.(target, (controls) => revertAllChanges(createHttpClient(service.url, key), controls));
  });
});
