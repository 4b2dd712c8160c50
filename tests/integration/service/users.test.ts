import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { fillPath } from "@/lib/contract/operation";
import { allOperations } from "@/lib/contract/operations";
import { openServiceStore } from "@/lib/service/index";
import { simulateFullDisk } from "@/tests/faults/disk/simulate-full-disk";
import { type Client, startService } from "@/tests/support/service";
import { asRecord, asString, countFiles, createColorGraph, getRecord, listAssets, runGraph, submitGraph, waitForEnd } from "./support";

describe("users and keys", async () => {
  const service = await startService();

  it("treats missing, unknown and revoked keys alike on every operation", async () => {
    const { key, prefix } = await service.service.keys.createKey("mallory");
    expect(await service.anonymous(key).get("/api/user")).toMatchObject({ status: 200, body: { status: "active" } });
    expect(await service.service.keys.revokeKey(prefix)).toBe(true);
    const params = { job_id: "x", id: "x", task_id: "x", file: "x", dest: "y", class: "x", folder: "x", hash: `blake3:${"0".repeat(64)}` };
    for (const { method, path } of allOperations) {
      const responses = await Promise.all(
        [undefined, "ld-unknown", key].map((value) => service.anonymous(value).call(method, fillPath(path, params))),
      );
      expect([path, ...responses.map((response) => response.status)]).toEqual([path, 401, 401, 401]);
      expect(new Set(responses.map((response) => response.text)).size).toBe(1);
      if (method !== "HEAD" && !path.startsWith("/api/userdata"))
        expect(responses[0]?.body).toMatchObject({ code: "UNAUTHORIZED", message: expect.any(String) });
    }
    for (const [method, path] of [
      ["GET", "/"],
      ["GET", "/api/nothing"],
      ["PATCH", "/api/jobs"],
    ] as const)
      for (const value of [undefined, "", "ld-unknown", key])
        expect(await service.anonymous(value).call(method, path)).toMatchObject({ status: 401, body: { code: "UNAUTHORIZED" } });
  });

  it("accepts Authorization: Bearer and rejects two different keys", async () => {
    const { key } = await service.service.keys.createKey("bea");
    const getUserStatus = async (headers: Record<string, string>) =>
      (await service.service.fetch(new Request("http://service.test/api/user", { headers }))).status;
    expect(await getUserStatus({ authorization: `Bearer ${key}` })).toBe(200);
    expect(await getUserStatus({ authorization: `bearer  ${key}`, "x-api-key": key })).toBe(200);
    expect(await getUserStatus({ authorization: `Bearer ${key}`, "x-api-key": "ld-another" })).toBe(400);
    for (const authorization of [`Basic ${key}`, "Bearer", "Bearer x", key]) expect(await getUserStatus({ authorization })).toBe(401);
  });

  it("returns a key once, stores its hash and lists its prefix", async () => {
    const { key, prefix } = await service.service.keys.createKey("carol");
    expect(key).toMatch(/^ld-[0-9A-Za-z]{40}$/);
    expect(key.startsWith(prefix)).toBe(true);
    expect(await service.service.keys.listKeys()).toContainEqual({
      prefix,
      userName: "carol",
      userStatus: "active",
      createdAtMs: expect.any(Number),
    });
    const storedText = await service.readStoredKeys();
    expect(storedText).toContain(prefix);
    expect(storedText).not.toContain(key);
    expect(await service.service.keys.revokeKey("ld-")).toBe(false);
  });

  it("creates and revokes keys by command while the service runs", async () => {
    const secondStore = await openServiceStore(service.folder, { concurrency: 1, databaseUrl: service.settings.databaseUrl });
    const { key, prefix } = await secondStore.keys.createKey("dave");
    expect((await service.anonymous(key).get("/api/user")).status).toBe(200);
    await secondStore.keys.setUserStatus("dave", "waitlisted");
    expect((await service.anonymous(key).get("/api/user")).body).toMatchObject({ status: "waitlisted" });
    await secondStore.keys.revokeKey(prefix);
    expect((await service.anonymous(key).get("/api/user")).status).toBe(401);
    await secondStore.close();
  });

  it("revokes keys and waitlists users on a full disk", async () => {
    const { key, prefix } = await service.service.keys.createKey("erin");
    const store = await openServiceStore(service.folder, { concurrency: 1, databaseUrl: service.settings.databaseUrl });
    const disk = simulateFullDisk(join(service.folder, "reserve"));
    await store.keys.setUserStatus("erin", "waitlisted");
    expect(await store.keys.revokeKey(prefix)).toBe(true);
    disk.mockRestore();
    await store.close();
    expect((await service.anonymous(key).get("/api/user")).status).toBe(401);
  });

  it("serves health without a key, and features, models and the user with one", async () => {
    expect(await service.anonymous().get("/api/health")).toMatchObject({ status: 200, body: { status: "ok" } });
    const client = service.client();
    expect(await client.get("/api/features")).toMatchObject({ status: 200, body: { max_upload_size: 1e9 } });
    for (const path of ["/api/models", "/api/models/checkpoints", "/api/models/a%20b"])
      expect(await client.get(path)).toMatchObject({ status: 200, body: [] });
    // Without a quota, the user has no storage.
    expect((await client.get("/api/user")).body).not.toHaveProperty("storage");
  });
});

const QUOTA = 100_000;
const quotaError = { status: 413, body: { code: "STORAGE_QUOTA_EXCEEDED", details: { quota_bytes: QUOTA } } };
const createText = (size: number, seed = "a") => seed.repeat(size);

describe("a user's storage", async () => {
  const service = await startService({ userQuotaBytes: QUOTA });
  let client: Client;
  let userCount = 0;
  beforeEach(() => {
    client = service.client(`user ${(userCount += 1)}`);
  });
  afterEach(() => {
    expect(service.loggedErrors).toEqual([]);
  });

  const getUsedBytes = async (user = client) => asRecord((await getRecord(user, "/api/user")).storage).used_bytes;
  const countBlobs = () => countFiles(join(service.folder, "blobs"));

  it("counts equal content of a user once", async () => {
    await client.upload(createText(60_000), "one.txt");
    await client.upload(createText(60_000), "same.txt");
    await service.client("grace").upload(createText(60_000), "hers.txt");
    expect(await getUsedBytes()).toBe(60_000);
    expect(await getUsedBytes(service.client("grace"))).toBe(60_000);
  });

  it("rejects an upload above the quota with usage and remedy", async () => {
    await client.upload(createText(60_000), "one.txt");
    const before = await countBlobs();
    const response = await client.upload(createText(40_001, "b"), "two.txt");
    expect(response).toMatchObject(quotaError);
    expect(response.body).toMatchObject({ message: expect.stringMatching(/100000.*60000.*[Dd]elete/), details: { used_bytes: 60_000 } });
    expect(response.headers.get("connection")).toBe("close");
    expect([await countBlobs(), await readdir(join(service.folder, "tmp")), await getUsedBytes()]).toEqual([before, [], 60_000]);
    expect((await client.upload(createText(40_000, "b"), "two.txt")).status).toBe(201);
  });

  it("rejects oversized content before reading it", async () => {
    const size = 64 * 1024 * 1024;
    const unreadBody = new ReadableStream({ pull: () => new Promise<void>(() => undefined) });
    const headers = { "content-type": "multipart/form-data; boundary=b", "content-length": String(size) };
    const { key } = await service.service.keys.createKey("cy");
    const init = { method: "POST", headers: { ...headers, "x-api-key": key }, body: unreadBody, duplex: "half" } as RequestInit;
    expect((await service.service.fetch(new Request("http://service.test/api/assets", init))).status).toBe(413);
  });

  it("accepts stored content at the limit and frees space on deletion", async () => {
    const { id } = asRecord((await client.upload(createText(QUOTA), "all.txt")).body);
    expect(await client.upload(createText(QUOTA), "again.txt", { tags: "new" })).toMatchObject({
      status: 200,
      body: { id, tags: ["new"] },
    });
    expect(await client.upload("b", "b.txt")).toMatchObject(quotaError);
    expect((await client.call("DELETE", `/api/assets/${asString(id)}`)).status).toBe(204);
    expect([await getUsedBytes(), (await client.upload("b", "b.txt")).status]).toEqual([0, 201]);
  });

  it("rejects references and downloads when the quota is used up", async () => {
    await client.upload(createText(QUOTA), "all.txt");
    const [shipped] = await listAssets(client, "include_tags=input");
    expect(await client.post("/api/assets/from-hash", { hash: shipped?.asset_hash, tags: ["mine"] })).toMatchObject(quotaError);
    expect(await client.post("/api/assets/download", { source_url: "https://huggingface.co/a/b.txt" })).toMatchObject(quotaError);
  });

  it("fails a job and keeps no outputs when they exceed the quota", async () => {
    await client.upload(createText(QUOTA), "all.txt");
    const before = await countBlobs();
    const job = await runGraph(client, createColorGraph(7));
    expect(job).toMatchObject({
      status: "failed",
      execution_error: { exception_type: "StorageQuotaExceeded", exception_message: expect.stringContaining(String(QUOTA)) },
    });
    expect([await countBlobs(), await getUsedBytes()]).toEqual([before, QUOTA]);
    expect(await listAssets(client)).toHaveLength(1);
  });

  it("keeps outputs that fit when a job exceeds the quota", async () => {
    await client.upload(createText(90_000), "most.txt");
    const before = await countBlobs();
    const createSaveNode = (from: string, prefix: string) => ({
      class_type: "SaveImage",
      inputs: { images: [from, 0], filename_prefix: prefix },
    });
    const createImageNode = (color: number) => ({ class_type: "EmptyImage", inputs: { width: 8, height: 8, batch_size: 1, color } });
    const id = await submitGraph(client, {
      "1": createImageNode(1),
      "2": createSaveNode("1", "first"),
      "3": { class_type: "LoadImage", inputs: { image: "photo.png" } },
      "4": createSaveNode("3", "large"),
      "5": createImageNode(2),
      "6": createSaveNode("5", "last"),
    });
    const job = await waitForEnd(client, id);
    expect(job).toMatchObject({
      status: "failed",
      outputs_count: 2,
      preview_output: { nodeId: "2" },
      execution_error: { exception_type: "StorageQuotaExceeded", exception_message: expect.stringContaining(String(QUOTA)) },
      execution_meta: { "4": { node_id: "4" } },
    });
    expect(Object.keys(asRecord(job.outputs))).toEqual(["2", "6"]);
    const outputs = await listAssets(client, "include_tags=output&include_public=false");
    expect(outputs.map(({ prompt_id }) => prompt_id)).toEqual([id, id]);
    expect([await countBlobs(), await getUsedBytes()]).toEqual([
      before + 2,
      90_000 + outputs.reduce((sum, { size }) => sum + Number(size), 0),
    ]);
  });

  it("counts user data, and replaced files once, with or without a content length", async () => {
    const writeFile = (name: string, size: number, { query = "", hasLength = true } = {}) =>
      client.call("POST", `/api/userdata/${name}${query}`, createText(size), hasLength ? { "content-length": String(size) } : {});
    expect((await writeFile("a.json", 80_000)).status).toBe(200);
    const response = await writeFile("b.json", 60_000);
    expect([response.status, response.text]).toEqual([413, expect.stringContaining(String(QUOTA))]);
    expect((await writeFile("a.json", 80_000)).status).toBe(200);
    expect((await writeFile("a.json", QUOTA, { hasLength: false })).status).toBe(200);
    for (const hasLength of [true, false]) expect((await writeFile("a.json", QUOTA + 1, { hasLength })).status).toBe(413);
    expect((await writeFile("a.json", 10, { query: "?overwrite=false" })).status).toBe(409);
    expect((await client.get("/api/userdata?dir=/")).body).toMatchObject([{ path: "a.json", size: QUOTA }]);
    await client.call("DELETE", "/api/userdata/a.json");
    const responses = await Promise.all(["b", "c", "d"].map((name) => writeFile(name, 60_000)));
    expect(responses.map(({ status }) => status).sort()).toEqual([200, 413, 413]);
  });
});
