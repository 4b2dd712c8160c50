// The storage of one user: what counts, what is refused beyond the quota, and that existing data is never in the way.
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type Client, type ServiceBench, startService } from "@/tests/support/service";
import { canvas, ended, list, record, string, submit } from "./support";

const QUOTA = 100_000;
const refusal = { status: 413, body: { code: "STORAGE_QUOTA_EXCEEDED", details: { quota_bytes: QUOTA } } };
const bytes = (size: number, seed = "a") => seed.repeat(size);

describe("a user's storage", () => {
  let bench: ServiceBench;
  let client: Client;
  beforeEach(async () => {
    bench = await startService({ userQuotaBytes: QUOTA });
    client = bench.client();
  });
  afterEach(async () => {
    await bench.dispose();
    expect(bench.complaints).toEqual([]);
  });

  const used = async (who = client) => record(record((await who.get("/api/user")).body).storage).used_bytes;
  const blobs = async () =>
    (await readdir(join(bench.folder, "blobs"), { recursive: true, withFileTypes: true })).filter((one) => one.isFile()).length;

  it("counts each content once, whatever refers to it, and nobody else's", async () => {
    await client.upload(bytes(60_000), "one.txt");
    await client.upload(bytes(60_000), "same.txt");
    await bench.client("grace").upload(bytes(60_000), "hers.txt");
    expect(await used()).toBe(60_000);
    expect(await used(bench.client("grace"))).toBe(60_000);
  });

  it("refuses what goes beyond it with what is used and what to do, and keeps nothing of it", async () => {
    await client.upload(bytes(60_000), "one.txt");
    const before = await blobs();
    const refused = await client.upload(bytes(40_001, "b"), "two.txt");
    expect(refused).toMatchObject(refusal);
    expect(refused.body).toMatchObject({ message: expect.stringMatching(/100000.*60000.*[Dd]elete/), details: { used_bytes: 60_000 } });
    expect(refused.headers.get("connection")).toBe("close");
    expect([await blobs(), await readdir(join(bench.folder, "tmp")), await used()]).toEqual([before, [], 60_000]);
    expect((await client.upload(bytes(40_000, "b"), "two.txt")).status).toBe(201);
  });

  it("refuses before it reads what can never fit", async () => {
    const size = 64 * 1024 * 1024;
    const unread = new ReadableStream({ pull: () => new Promise<void>(() => undefined) });
    const headers = { "content-type": "multipart/form-data; boundary=b", "content-length": String(size) };
    const { key } = await bench.service.keys.createKey("ada");
    const init = { method: "POST", headers: { ...headers, "x-api-key": key }, body: unread, duplex: "half" } as RequestInit;
    expect((await bench.service.fetch(new Request("http://service.test/api/assets", init))).status).toBe(413);
  });

  it("takes content that is there already at the limit too, and has room again when something goes", async () => {
    const { id } = record((await client.upload(bytes(QUOTA), "all.txt")).body);
    expect(await client.upload(bytes(QUOTA), "again.txt", { tags: "new" })).toMatchObject({ status: 200, body: { id, tags: ["new"] } });
    expect(await client.upload("b", "b.txt")).toMatchObject(refusal);
    expect((await client.call("DELETE", `/api/assets/${string(id)}`)).status).toBe(204);
    expect([await used(), (await client.upload("b", "b.txt")).status]).toEqual([0, 201]);
  });

  it("has no room for public content by its hash, nor for a download, when it is full", async () => {
    await client.upload(bytes(QUOTA), "all.txt");
    const [shipped] = list(record((await client.get("/api/assets?include_tags=input")).body).assets);
    expect(await client.post("/api/assets/from-hash", { hash: shipped?.asset_hash, tags: ["mine"] })).toMatchObject(refusal);
    expect(await client.post("/api/assets/download", { source_url: "https://huggingface.co/a/b.txt" })).toMatchObject(refusal);
  });

  it("fails a job whose outputs do not fit, saying so, and leaves nothing of them", async () => {
    await client.upload(bytes(QUOTA), "all.txt");
    const before = await blobs();
    const job = await ended(client, await submit(client, canvas(7)));
    expect(job).toMatchObject({
      status: "failed",
      execution_error: { exception_type: "StorageQuotaExceeded", exception_message: expect.stringContaining(String(QUOTA)) },
    });
    expect([await blobs(), await used()]).toEqual([before, QUOTA]);
    expect((await client.get("/api/assets?include_public=false")).body).toMatchObject({ total: 1 });
  });

  it("a job whose outputs do not all fit fails and keeps those that do, in the order of its nodes", async () => {
    await client.upload(bytes(90_000), "most.txt");
    const before = await blobs();
    const save = (from: string, prefix: string) => ({ class_type: "SaveImage", inputs: { images: [from, 0], filename_prefix: prefix } });
    const plain = (color: number) => ({ class_type: "EmptyImage", inputs: { width: 8, height: 8, batch_size: 1, color } });
    const id = await submit(client, {
      "1": plain(1),
      "2": save("1", "first"),
      "3": { class_type: "LoadImage", inputs: { image: "photo.png" } },
      "4": save("3", "large"),
      "5": plain(2),
      "6": save("5", "last"),
    });
    const job = await ended(client, id);
    expect(job).toMatchObject({
      status: "failed",
      outputs_count: 2,
      preview_output: { nodeId: "2" },
      execution_error: { exception_type: "StorageQuotaExceeded", exception_message: expect.stringContaining(String(QUOTA)) },
      execution_meta: { "4": { node_id: "4" } },
    });
    expect(Object.keys(record(job.outputs))).toEqual(["2", "6"]);
    const kept = list(record((await client.get("/api/assets?include_tags=output&include_public=false")).body).assets);
    expect(kept.map(({ prompt_id }) => prompt_id)).toEqual([id, id]);
    expect([await blobs(), await used()]).toEqual([before + 2, 90_000 + kept.reduce((sum, { size }) => sum + Number(size), 0)]);
  });

  it("bounds user data by the same figure", async () => {
    const write = (name: string, size: number) =>
      client.call("POST", `/api/userdata/${name}`, bytes(size), { "content-length": String(size) });
    expect((await write("workflows%2Fa.json", 60_000)).status).toBe(200);
    const refused = await write("b.json", 60_000);
    expect([refused.status, refused.text]).toEqual([413, expect.stringContaining("100000")]);
    expect((await write("b.json", 40_000)).status).toBe(200);
  });

  it("counts of user data what stays: a file that is replaced makes room for its successor, with its length or without", async () => {
    const write = (size: number, query = "", told = true) =>
      client.call("POST", `/api/userdata/a.json${query}`, bytes(size), told ? { "content-length": String(size) } : {});
    expect((await write(80_000)).status).toBe(200);
    expect((await write(80_000)).status).toBe(200);
    expect((await write(QUOTA, "", false)).status).toBe(200);
    expect([(await write(QUOTA + 1)).status, (await write(QUOTA + 1, "", false)).status]).toEqual([413, 413]);
    expect((await write(10, "?overwrite=false")).status).toBe(409);
    expect((await client.get("/api/userdata?dir=/")).body).toMatchObject([{ path: "a.json", size: QUOTA }]);
  });
});

it("without a quota the user says nothing of storage", async () => {
  const bench = await startService();
  expect((await bench.client().get("/api/user")).body).not.toHaveProperty("storage");
  await bench.dispose();
});

it("an upload under an id that is taken by one's own asset leaves no bytes without a name", async () => {
  const bench = await startService();
  const client = bench.client();
  const id = "6f0d4f7e-13b2-4a1f-9d5c-0c4f1f8a7a01";
  const count = async () =>
    (await readdir(join(bench.folder, "blobs"), { recursive: true, withFileTypes: true })).filter((one) => one.isFile()).length;
  expect((await client.upload("first", "a.txt", { id })).status).toBe(201);
  const before = await count();
  expect(await client.upload("second", "b.txt", { id })).toMatchObject({ status: 200, body: { id, size: 5 } });
  expect(await count()).toBe(before);
  await bench.dispose();
});
