// Requests by clients of the family beyond the interface's own operations.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { type Client } from "@/tests/support/service";
import { createKey, httpClient, type ServiceProcess, startServiceProcess } from "@/tests/support/service-process";
import { canvas, ended, list, png, record, submit, waiting } from "./support";

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

let dataDir: string;
let service: ServiceProcess;
let client: Client;
beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), "lightdesk-older-"));
  service = await startServiceProcess(dataDir);
  client = httpClient(service.url, await createKey(dataDir, "ada"));
});
afterAll(async () => {
  await service.stop();
  await rm(dataDir, { recursive: true, force: true });
});

const failing = {
  "1": { class_type: "EmptyImage", inputs: { width: 8, height: 8, batch_size: 1, color: 5 } },
  "2": { class_type: "Fail", inputs: { message: "no more paper", anything: ["1", 0] } },
  "3": { class_type: "PreviewImage", inputs: { images: ["2", 0] } },
};

describe("the history in its older shape", () => {
  it("is a map by id, oldest first, with the graph in a list; the last ones, or those from an offset on", async () => {
    const ids: string[] = [];
    for (const color of [1, 2, 3]) ids.push(await submit(client, canvas(color), { client_id: "c", extra_data: { note: "n" } }));
    for (const id of ids) await ended(client, id);
    const all = record((await client.get("/api/history")).body);
    expect(Object.keys(all)).toEqual(ids);
    expect(all[ids[1] ?? ""]).toMatchObject({
      prompt: [expect.any(Number), ids[1], canvas(2), { note: "n", client_id: "c" }, ["2"]],
      outputs: { "2": { images: [{ type: "output" }] } },
      status: { status_str: "success", completed: true },
      meta: { "2": { node_id: "2" } },
    });
    const keys = async (query: string) => Object.keys(record((await client.get(`/api/history?${query}`)).body));
    expect(await keys("max_items=2")).toEqual(ids.slice(1));
    expect(await keys("max_items=1&offset=1")).toEqual(ids.slice(1, 2));
    expect(await keys("offset=3")).toEqual([]);
    expect((await client.get("/api/history?max_items=none")).status).toBe(400);
    expect((await client.get(`/api/history/${ids[0]}`)).body).toEqual({ [ids[0] ?? ""]: all[ids[0] ?? ""] });
  });

  it("is empty for a job that is unknown, somebody else's, or has not ended", async () => {
    const running = await submit(client, waiting(600));
    const stranger = httpClient(service.url, await createKey(dataDir, "eve"));
    for (const [who, id] of [
      [client, running],
      [client, crypto.randomUUID()],
      [stranger, running],
    ] as const)
      // prettier-ignore
      expect(await who.get(`/api/history/${id}`)).toMatchObject({ status: 200, body: {} });
    expect((await client.post(`/api/job/${running}/cancel`)).body).toEqual({ cancelled: true });
    expect((await client.post(`/api/job/${running}/cancel`)).body).toEqual({ cancelled: false });
    expect((await stranger.post(`/api/job/${running}/cancel`)).status).toBe(404);
  });
});

it("an entry of a job that failed says what went wrong, in both histories; the others have no such field", async () => {
  const [failed, good] = [await submit(client, failing), await submit(client, canvas(77))];
  await ended(client, failed);
  await ended(client, good);
  for (const path of ["/api/history", "/api/history_v2"]) {
    expect(record(record((await client.get(`${path}/${failed}`)).body)[failed])).toMatchObject({ error_message: "no more paper" });
    expect(record(record((await client.get(`${path}/${good}`)).body)[good])).not.toHaveProperty("error_message");
  }
  const listed = list(record((await client.get("/api/history_v2")).body).history).find((entry) => entry.prompt_id === failed);
  expect(listed).toMatchObject({ error_message: "no more paper" });
});

it("assets say hash and job_id beside asset_hash and prompt_id", async () => {
  const id = await submit(client, canvas(99));
  await ended(client, id);
  const assets = list(record((await client.get("/api/assets?include_tags=output&include_public=false&limit=1")).body).assets);
  expect(assets[0]).toMatchObject({ prompt_id: id, job_id: id, hash: assets[0]?.asset_hash });
  const sent = record((await client.upload(png(3, 3), "a.png")).body);
  expect(sent).toMatchObject({ hash: sent.asset_hash, job_id: null });
});

it("system_stats tells of the machine, object_info of one class, and free is accepted", async () => {
  expect((await client.get("/api/system_stats")).body).toMatchObject({
    system: { os: process.platform, ram_total: expect.any(Number), argv: [] },
    devices: [{ type: "cpu", vram_total: expect.any(Number) }],
  });
  const all = record((await client.get("/api/object_info")).body);
  expect((await client.get("/api/object_info/SaveImage")).body).toEqual({ SaveImage: all.SaveImage });
  for (const name of ["NoSuchClass", "__proto__", "constructor"]) expect((await client.get(`/api/object_info/${name}`)).text).toBe("{}");
  for (const body of [undefined, { unload_models: true }])
    expect(await client.post("/api/free", body)).toMatchObject({ status: 200, text: "" });
});

/** Free memory changes between two requests. */
const withoutFree = (body: string) => body.replaceAll(/("\w*_free":)\d+/g, "$1");

it("every path may leave /api out, and none is open for it", async () => {
  const anonymous = httpClient(service.url, "ld-nothing");
  for (const path of ["/jobs", "/queue", "/prompt", "/history_v2", "/userdata?dir=%2F", "/system_stats", "/user"]) {
    expect(withoutFree((await client.get(path)).text), path).toBe(withoutFree((await client.get(`/api${path}`)).text));
    expect((await anonymous.get(path)).status, path).toBe(401);
  }
  expect(await anonymous.get("/health")).toMatchObject({ status: 200, body: { status: "ok" } });
  expect((await client.get("/nothing")).status).toBe(404);
  expect((await client.call("PUT", "/userdata/a%2Fb.json", "{}")).status).toBe(405);
  expect((await client.post("/userdata/a%2Fb.json", "{}")).status).toBe(200);
  expect((await client.get("/api/userdata/a%2Fb.json")).text).toBe("{}");
});
