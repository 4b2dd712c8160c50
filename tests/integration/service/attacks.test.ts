// Attacks on the service by an authenticated client.
import { readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { createBytesResponse } from "@/lib/server/requests/responses";
import { createPattern } from "@/tests/support/file-source";
import { startFileSource } from "@/tests/support/servers";
import { startService } from "@/tests/support/service";
import { openServiceProcess } from "@/tests/support/service-process";
import { waitForOutcome } from "./downloads-support";
import { createModelGraph, createModelImage, startRunnerService } from "./runner-service";
import { asRecord, asRecords, asString, createColorGraph, createLoadGraph, createPng, listAssets, runGraph } from "./support";

describe("the service", async () => {
  const source = await startFileSource(createPattern(200_000));
  const service = await startService({ downloadHosts: [source.url], downloadsAtOnce: 4, maxJobPixels: 1000 });
  const client = service.client();
  afterAll(async () => {
    expect(service.loggedErrors).toEqual([]);
    await service.dispose();
    await source.close();
  });

  it("returns 204 for one of ten parallel deletes and 404 for the rest", async () => {
    const asset = asString(asRecord((await client.upload("to be deleted", "a.txt")).body).id);
    await client.call("POST", "/api/userdata/deleted.txt?overwrite=true", "x");
    for (const path of [`/api/assets/${asset}`, "/api/userdata/deleted.txt"]) {
      const responses = await Promise.all(Array.from({ length: 10 }, () => client.call("DELETE", path)));
      expect([path, responses.map(({ status }) => status).sort()]).toEqual([path, [204, ...Array.from({ length: 9 }, () => 404)]]);
    }
  });

  it("fetches a URL once for parallel requests and applies all tags", async () => {
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

  it("rejects half a surrogate pair in a tag or name", async () => {
    const asset = asString(asRecord((await client.upload("named", "n.txt")).body).id);
    const send = (path: string, method: string, json: string) => client.call(method, path, json, { "content-type": "application/json" });
    expect((await send(`/api/assets/${asset}/tags`, "POST", '{"tags":["a\\ud800"]}')).status).toBe(400);
    expect((await send(`/api/assets/${asset}`, "PUT", '{"name":"a\\udc00"}')).status).toBe(400);
    expect((await send(`/api/assets/${asset}/tags`, "POST", '{"tags":["\\ud83d\\ude00"]}')).status).toBe(200);
  });

  it("fails a job above the pixel limit without logging a lost worker", async () => {
    const job = await runGraph(client, createColorGraph(0, 64));
    expect(job).toMatchObject({ status: "failed", execution_error: { exception_type: "OOMError" } });
    expect(service.loggedErrors).toEqual([]);
  });
});

it("rejects a new database when user files exist", async () => {
  const first = await startService();
  await first.client().upload("user data", "a.txt");
  await first.service.stop();
  for (const suffix of ["", "-wal", "-shm"]) await rm(join(first.folder, `service.sqlite${suffix}`), { force: true });
  await expect(startService({ dataDir: first.folder })).rejects.toThrow(/service\.sqlite is empty or missing/);
  await rm(first.folder, { recursive: true });
});

const { client, service } = await openServiceProcess();

async function readPeakBytes(): Promise<number> {
  const [, kibibytes = "0"] = /VmHWM:\s+(\d+) kB/.exec(await readFile(`/proc/${service.pid}/status`, "utf8")) ?? [];
  return Number(kibibytes) * 1024;
}

it("rejects an image above the pixel limit everywhere with little memory", async () => {
  const avif = new Uint8Array(await readFile("tests/fixtures/60-megapixels.avif"));
  const name = asString(asRecord((await client.upload(avif, "large.avif")).body).asset_hash);
  const before = await readPeakBytes();
  const viewPath = `/api/view?filename=${name}`;
  const viewResponses = await Promise.all(
    ["res=64", "res=1024", "channel=rgb", "channel=alpha"].map((query) => client.get(`${viewPath}&${query}`)),
  );
  expect(viewResponses.map(({ status }) => status)).toEqual([422, 422, 422, 422]);
  const image = await client.upload(avif, "large.avif", {}, "image", "/api/upload/image");
  expect(image).toMatchObject({ status: 400, body: { code: "INVALID_IMAGE" } });
  const reference = { original_ref: JSON.stringify({ filename: name, type: "input" }) };
  const mask = await client.upload(createPng(16, 16), "mask.png", reference, "image", "/api/upload/mask");
  expect(mask.status).toBe(400);
  const job = await runGraph(client, createLoadGraph(name));
  expect(job).toMatchObject({ status: "failed", execution_error: { exception_type: "ImageDecodeError" } });
  expect((await readPeakBytes()) - before).toBeLessThan(150 * 1024 ** 2);
});

describe("file names", async () => {
  const BIDI_NAME = "a\u202e\u2066\u061c\u200fgpj\u2069.png";
  const PLAIN_NAME = "agpj.png";
  const { client, addRunner } = await startRunnerService();

  it("strips control characters from names of uploaded and renamed files", async () => {
    const { body } = await client.upload(createPng(4, 4), `${BIDI_NAME}\u0001\u009f`);
    expect(body).toMatchObject({ name: PLAIN_NAME });
    const edited = await client.call("PUT", `/api/assets/${asString(asRecord(body).id)}`, { name: `\u202e${BIDI_NAME}` });
    expect(edited.body).toMatchObject({ name: PLAIN_NAME });
    const image = await client.upload(createPng(5, 4), BIDI_NAME, {}, "image", "/api/upload/image");
    expect(image.body).toMatchObject({ display_name: PLAIN_NAME });
    expect((await client.upload(createPng(6, 4), "\u202e")).body).toMatchObject({ name: "upload" });
  });

  it("strips control characters from saved image names and headers", async () => {
    const saveNode = { class_type: "SaveImage", inputs: { images: ["1", 0], filename_prefix: "x\u202ey\u0007" } };
    const job = await runGraph(client, { ...createColorGraph(1), "2": saveNode });
    const [image] = asRecords(asRecord(asRecord(job.outputs)["2"]).images);
    expect(image).toMatchObject({ display_name: "xy_00001_.png" });
    const { headers } = await client.get(`/api/view?filename=${asString(image?.filename)}`);
    expect(headers.get("content-disposition")).toBe(`inline; filename="xy_00001_.png"; filename*=UTF-8''xy_00001_.png`);
  });

  it("strips control characters from a runner's file names", async () => {
    await addRunner("GPU", { makeOutput: () => ({ files: [{ name: BIDI_NAME, bytes: createModelImage(1) }] }) });
    const job = await runGraph(client, createModelGraph());
    const [image] = asRecords(asRecord(asRecord(job.outputs)["3"]).images);
    expect(image).toMatchObject({ display_name: PLAIN_NAME });
    expect((await listAssets(client, "include_tags=output"))[0]).toMatchObject({ name: PLAIN_NAME });
  });

  it("rejects control characters in a user data path", async () => {
    expect((await client.call("POST", `/api/userdata/${encodeURIComponent(BIDI_NAME)}`, "x")).status).toBe(400);
  });

  it.each([
    [`filename="${Buffer.from(BIDI_NAME).toString("latin1")}"`, `inline; filename="${PLAIN_NAME}"`],
    [`filename*=UTF-8''${encodeURIComponent(BIDI_NAME)}`, `inline; filename*=UTF-8''${PLAIN_NAME}`],
    [`filename*=UTF-8''%E6%9D%B1%28.png`, `inline; filename*=UTF-8''%E6%9D%B1%28.png`],
    [`filename*=UTF-8''%80%ff.png`, "inline"],
  ])("strips control characters from the file name in %s", (header, expected) => {
    const response = createBytesResponse(
      new Response("x", { headers: { "content-type": "image/png", "content-disposition": `attachment; ${header}` } }),
    );
    expect(response.headers.get("content-disposition")).toBe(expected);
  });
});
