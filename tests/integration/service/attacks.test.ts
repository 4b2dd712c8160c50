// Attacks on the service by a client with a key.
import { readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeEach, describe, expect, it } from "vitest";
import { bytesResponse } from "@/lib/server/requests/responses";
import { createPattern } from "@/tests/support/file-source";
import { gpuClasses } from "@/tests/support/gpu-classes";
import { startFileSource, startRunnerServer } from "@/tests/support/servers";
import { type Client, startService, type TestService } from "@/tests/support/service";
import { openServiceProcess } from "@/tests/support/service-process";
import { until } from "@/tests/support/until";
import { modelGraph, picture } from "./built-in-job";
import { waitForOutcome } from "./downloads-support";
import { asRecord, asRecords, asString, png, submit, waitForEnd } from "./support";

describe("the service", async () => {
  const source = await startFileSource(createPattern(200_000));
  const service = await startService({ downloadHosts: [source.url], downloadsAtOnce: 4, maxJobPixels: 1000 });
  const client = service.client();
  afterAll(async () => {
    expect(service.complaints).toEqual([]);
    await service.dispose();
    await source.close();
  });

  it("returns 204 to one of ten parallel deletes and 404 to the rest", async () => {
    const asset = asString(asRecord((await client.upload("to be deleted", "a.txt")).body).id);
    await client.call("POST", "/api/userdata/gone.txt?overwrite=true", "x");
    for (const path of [`/api/assets/${asset}`, "/api/userdata/gone.txt"]) {
      const responses = await Promise.all(Array.from({ length: 10 }, () => client.call("DELETE", path)));
      expect([path, responses.map(({ status }) => status).sort()]).toEqual([path, [204, ...Array.from({ length: 9 }, () => 404)]]);
    }
  });

  it("fetches an address once for parallel requests, each with its own tags", async () => {
    const url = `${source.url}/files/once/model.bin`;
    const responses = await Promise.all(
      Array.from({ length: 6 }, (_, index) => client.post("/api/assets/download", { source_url: url, tags: [`t${index}`] })),
    );
    const tasks = await Promise.all(responses.map(({ body }) => waitForOutcome(client, `/api/tasks/${asString(asRecord(body).task_id)}`)));
    expect(tasks.map(({ status }) => status)).toEqual(Array.from({ length: 6 }, () => "completed"));
    expect(source.responses).toHaveLength(1);
    const ids = new Set(tasks.map(({ result }) => asString(asRecord(result).asset_id)));
    const tags = await Promise.all([...ids].map(async (id) => asRecord((await client.get(`/api/assets/${id}`)).body).tags));
    expect(tags.flat().sort()).toEqual(["t0", "t1", "t2", "t3", "t4", "t5"]);
  });

  it("refuses half of a surrogate pair in a tag and in a name", async () => {
    const asset = asString(asRecord((await client.upload("named", "n.txt")).body).id);
    const send = (path: string, method: string, json: string) => client.call(method, path, json, { "content-type": "application/json" });
    expect((await send(`/api/assets/${asset}/tags`, "POST", '{"tags":["a\\ud800"]}')).status).toBe(400);
    expect((await send(`/api/assets/${asset}`, "PUT", '{"name":"a\\udc00"}')).status).toBe(400);
    expect((await send(`/api/assets/${asset}/tags`, "POST", '{"tags":["\\ud83d\\ude00"]}')).status).toBe(200);
  });

  it("fails a job beyond its pixels in words, and no log says that a worker was lost", async () => {
    const inputs = { width: 64, height: 64, batch_size: 1, color: 0 };
    const prompt = {
      "1": { class_type: "EmptyImage", inputs },
      "2": { class_type: "SaveImage", inputs: { images: ["1", 0], filename_prefix: "x" } },
    };
    const { body } = await client.post("/api/prompt", { prompt });
    const path = `/api/jobs/${asString(asRecord(body).prompt_id)}`;
    const job = await until("it has failed", async () => {
      const { body: now } = await client.get(path);
      return asRecord(now).status === "failed" && now;
    });
    expect(JSON.stringify(job)).toContain("OOMError");
    expect(service.complaints).toEqual([]);
  });
});

it("refuses a new database next to existing user files", async () => {
  const first = await startService();
  await first.client().upload("must stay", "a.txt");
  await first.service.stop();
  for (const end of ["", "-wal", "-shm"]) await rm(join(first.folder, `service.sqlite${end}`), { force: true });
  await expect(startService({ dataDir: first.folder })).rejects.toThrow(/service\.sqlite is empty or missing/);
  await rm(first.folder, { recursive: true });
});

const { client, service } = await openServiceProcess();

async function peakBytes(): Promise<number> {
  const [, kibibytes = "0"] = /VmHWM:\s+(\d+) kB/.exec(await readFile(`/proc/${service.pid}/status`, "utf8")) ?? [];
  return Number(kibibytes) * 1024;
}

it("refuses to decode the image everywhere and uses little memory", async () => {
  const avif = new Uint8Array(await readFile("tests/fixtures/60-megapixels.avif"));
  const name = asString(asRecord((await client.upload(avif, "large.avif")).body).asset_hash);
  const load = {
    "1": { class_type: "LoadImage", inputs: { image: name } },
    "2": { class_type: "SaveImage", inputs: { images: ["1", 0], filename_prefix: "x" } },
  };
  const before = await peakBytes();
  const view = `/api/view?filename=${name}`;
  const views = await Promise.all(["res=64", "res=1024", "channel=rgb", "channel=alpha"].map((query) => client.get(`${view}&${query}`)));
  expect(views.map(({ status }) => status)).toEqual([422, 422, 422, 422]);
  const image = await client.upload(avif, "large.avif", {}, "image", "/api/upload/image");
  expect(image).toMatchObject({ status: 400, body: { code: "INVALID_IMAGE" } });
  const reference = { original_ref: JSON.stringify({ filename: name, type: "input" }) };
  const mask = await client.upload(png(16, 16), "mask.png", reference, "image", "/api/upload/mask");
  expect(mask.status).toBe(400);
  const job = await waitForEnd(client, await submit(client, load));
  expect(job).toMatchObject({ status: "failed", execution_error: { exception_type: "ImageDecodeError" } });
  expect((await peakBytes()) - before).toBeLessThan(150 * 1024 ** 2);
});

describe("file names", () => {
  const TURNED = "a\u202e\u2066\u061c\u200fgpj\u2069.png";
  const PLAIN = "agpj.png";

  let service: TestService;
  let client: Client;
  beforeEach(async () => {
    service = await startService({ runnerCheckMs: 100, concurrency: 1 });
    client = service.client();
  });

  it("strips the names of uploads, also of images", async () => {
    const asset = await client.upload(png(4, 4), `${TURNED}\u0001\u009f`);
    expect(asset.body).toMatchObject({ name: PLAIN });
    const image = await client.upload(png(5, 4), TURNED, {}, "image", "/api/upload/image");
    expect(image.body).toMatchObject({ display_name: PLAIN });
    expect((await client.upload(png(6, 4), "\u202e")).body).toMatchObject({ name: "upload" });
  });

  it("strips names of assets created from a hash and of renamed ones", async () => {
    const { asset_hash: hash } = asRecord((await client.upload(png(4, 4), "a.png")).body);
    const otherClient = service.client("bob");
    await otherClient.upload(png(4, 4), "b.png");
    const created = await client.post("/api/assets/from-hash", { hash, name: TURNED, tags: ["input"] });
    const asset = asRecord(created.body);
    const edited = await client.call("PUT", `/api/assets/${asString(asset.id)}`, JSON.stringify({ name: `\u202e${TURNED}` }), {
      "content-type": "application/json",
    });
    expect(edited.body).toMatchObject({ name: PLAIN });
  });

  it("strips the prefix of a saved image and the name in the response headers", async () => {
    const graph = {
      "1": { class_type: "EmptyImage", inputs: { width: 8, height: 8, batch_size: 1, color: 1 } },
      "2": { class_type: "SaveImage", inputs: { images: ["1", 0], filename_prefix: "x\u202ey\u0007" } },
    };
    const job = await waitForEnd(client, await submit(client, graph));
    const [image] = asRecords(asRecord(asRecord(job.outputs)["2"]).images);
    expect(image).toMatchObject({ display_name: "xy_00001_.png" });
    const view = await client.raw("GET", `/api/view?filename=${asString(image?.filename)}`);
    await view.arrayBuffer();
    expect(view.headers.get("content-disposition")).toBe(`inline; filename="xy_00001_.png"; filename*=UTF-8''xy_00001_.png`);
  });

  it("strips the names of a runner's files", async () => {
    const server = await startRunnerServer({
      objectInfo: gpuClasses(["one.safetensors"]),
      makeOutput: (node) => (node.class_type === "SaveImage" ? { files: [{ name: TURNED, bytes: picture(1) }] } : undefined),
    });
    await service.service.runners.add({ address: server.address, label: "GPU" });
    const job = await waitForEnd(client, await submit(client, modelGraph()));
    const [image] = asRecords(asRecord(asRecord(job.outputs)["3"]).images);
    expect(image).toMatchObject({ display_name: PLAIN });
    expect(asRecords(asRecord((await client.get("/api/assets?include_tags=output")).body).assets)[0]).toMatchObject({ name: PLAIN });
  });

  it("refuses such a path of a user's data file", async () => {
    const response = await client.call("POST", `/api/userdata/${encodeURIComponent(TURNED)}`, "x", { "content-type": "text/plain" });
    expect(response.status).toBe(400);
  });

  it.each([
    [`filename="${Buffer.from(TURNED).toString("latin1")}"`, `inline; filename="${PLAIN}"`],
    [`filename*=UTF-8''${encodeURIComponent(TURNED)}`, `inline; filename*=UTF-8''${PLAIN}`],
    [`filename*=UTF-8''%E6%9D%B1%28.png`, `inline; filename*=UTF-8''%E6%9D%B1%28.png`],
    [`filename*=UTF-8''%80%ff.png`, "inline"],
  ])("strips the name that a connected service sends with bytes: %s", (header, expected) => {
    const response = bytesResponse(
      new Response("x", { headers: { "content-type": "image/png", "content-disposition": `attachment; ${header}` } }),
    );
    expect(response.headers.get("content-disposition")).toBe(expected);
  });
});
