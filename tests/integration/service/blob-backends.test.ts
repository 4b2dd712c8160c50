// Runs the same tests of stored bytes on every blob backend.
import { randomBytes } from "node:crypto";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { blake3 } from "@napi-rs/blake-hash";
import sharp from "sharp";
import { afterAll, describe, expect, it } from "vitest";
import { blobBackends } from "@/tests/support/blob-backends";
import { startService } from "@/tests/support/service";
import { until } from "@/tests/support/until";
import { asRecord, asString, createLoadGraph, listAssets, runGraph, uploadImage } from "./support";

const MIB = 1024 ** 2;

describe.each(blobBackends)("bytes in %s", async (_, open) => {
  const testBackend = await open();
  const service = await startService({ ...testBackend.options, maxUploadBytes: 64 * MIB });
  const client = service.client();
  afterAll(async () => {
    await service.dispose();
    await testBackend.close();
    expect(service.loggedErrors).toEqual([]);
  });

  const upload = async (bytes: Uint8Array<ArrayBuffer>, name: string) => {
    const response = await client.upload(bytes, name);
    expect([response.status, response.text]).toEqual([201, expect.any(String)]);
    const { id, asset_hash } = asRecord(response.body);
    return { id: asString(id), hash: asString(asset_hash).slice("blake3:".length) };
  };
  const readFile = async (path: string, headers?: Record<string, string>) => {
    const response = await client.raw("GET", path, undefined, headers);
    return { status: response.status, range: response.headers.get("content-range"), bytes: Buffer.from(await response.arrayBuffer()) };
  };

  it.each([
    ["no bytes", 0],
    ["one byte", 1],
    ["exactly one part", 8 * MIB],
    ["several parts", 19 * MIB + 7],
  ])("are returned unchanged: %s", async (name, length) => {
    const bytes = randomBytes(length);
    const { id, hash } = await upload(new Uint8Array(bytes), `${name}.bin`);
    expect(hash).toBe(blake3(bytes).toString("hex"));
    expect(await testBackend.listHashes(service.folder)).toContain(hash);
    for (const path of [`/api/view?filename=${hash}.bin`, `/api/assets/${id}/content`]) {
      expect((await readFile(path)).bytes.equals(bytes), path).toBe(true);
      const head = await client.raw("HEAD", path);
      expect([head.status, head.headers.get("content-length"), head.headers.get("etag")]).toEqual([200, String(length), `"${hash}"`]);
      expect((await readFile(path, { range: `bytes=${length}-` })).status).toBe(416);
      if (length < 100) continue;
      const [from, to] = [length - 3 * MIB - 5, length - 2 * MIB];
      const part = await readFile(path, { range: `bytes=${from}-${to}` });
      expect([part.status, part.range]).toEqual([206, `bytes ${from}-${to}/${length}`]);
      expect(part.bytes.equals(bytes.subarray(from, to + 1))).toBe(true);
      expect((await readFile(path, { range: "bytes=-9" })).bytes.equals(bytes.subarray(-9))).toBe(true);
      expect((await readFile(path, { "if-none-match": `"${hash}"` })).status).toBe(304);
    }
  });

  it("are stored once when sent in parallel", async () => {
    const bytes = new Uint8Array(randomBytes(9 * MIB));
    const responses = await Promise.all(Array.from({ length: 4 }, () => client.upload(bytes, "same.bin")));
    expect(responses.map(({ status }) => status).sort()).toEqual([200, 200, 200, 201]);
    expect(new Set(responses.map(({ body }) => asRecord(body).id)).size).toBe(1);
    expect(await readdir(join(service.folder, "tmp"))).toEqual([]);
  });

  it("are read and written by a job and cached when it repeats", async () => {
    const pixels = { raw: { width: 40, height: 30, channels: 3 } } as const;
    const inputImage = new Uint8Array(
      await sharp(randomBytes(40 * 30 * 3), pixels)
        .png()
        .toBuffer(),
    );
    const name = await uploadImage(client, inputImage, "in.png");
    const invertNode = { class_type: "ImageInvert", inputs: { image: ["1", 0] } };
    const saveNode = { class_type: "SaveImage", inputs: { images: ["3", 0], filename_prefix: "output" } };
    const graph = { ...createLoadGraph(name), "2": saveNode, "3": invertNode };
    const outputs: Buffer[] = [];
    for (let run = 0; run < 2; run += 1) {
      const job = await runGraph(client, graph);
      expect(job).toMatchObject({ status: "completed" });
      const [image] = Object.values(asRecord(job.outputs)).flatMap((node) => (asRecord(node).images ?? []) as { filename: string }[]);
      outputs.push((await readFile(`/api/view?filename=${image?.filename}`)).bytes);
      if (run === 1) expect(JSON.stringify(job)).toContain("execution_cached");
    }
    expect(outputs[0]?.equals(outputs[1] ?? Buffer.alloc(0))).toBe(true);
    const [before, after] = await Promise.all([inputImage, outputs[0]].map((file) => sharp(file).removeAlpha().raw().toBuffer()));
    // Nodes compute with floats, so values may differ by one.
    expect(Math.max(...[...(after ?? [])].map((value, index) => Math.abs(255 - value - (before?.[index] ?? 0))))).toBeLessThanOrEqual(1);
    expect((await readFile(`/api/view?filename=${name}&res=64`)).status).toBe(200);
    expect((await readFile(`/api/view?filename=${name}&channel=rgb`)).status).toBe(200);
  });

  it("are deleted with the last asset that references them", async () => {
    const { id, hash } = await upload(new Uint8Array(randomBytes(2000)), "twice.bin");
    const otherClient = service.client("bob");
    await otherClient.upload(new Uint8Array((await readFile(`/api/assets/${id}/content`)).bytes), "mine.bin");
    expect((await client.call("DELETE", `/api/assets/${id}`)).status).toBe(204);
    expect(await testBackend.listHashes(service.folder)).toContain(hash);
    const [remainingAsset] = await listAssets(otherClient);
    expect((await otherClient.call("DELETE", `/api/assets/${asString(remainingAsset?.id)}`)).status).toBe(204);
    expect(await testBackend.listHashes(service.folder)).not.toContain(hash);
  });

  it("are reported when missing or truncated and restored by an upload", async () => {
    for (const damage of [testBackend.truncate, testBackend.remove]) {
      const bytes = new Uint8Array(randomBytes(5000));
      const { id, hash } = await upload(bytes, "damaged.bin");
      await damage(service.folder, hash);
      const response = await client.get(`/api/assets/${id}/content`);
      expect(response).toMatchObject({ body: { message: expect.stringMatching(/bytes of this file/) } });
      expect(response.status).toBe(damage === testBackend.remove ? 404 : 500);
      expect(await client.upload(bytes, "damaged.bin")).toMatchObject({ status: 200, body: { id } });
      expect((await readFile(`/api/assets/${id}/content`)).bytes.equals(Buffer.from(bytes))).toBe(true);
    }
    service.loggedErrors.length = 0; // a damaged file is logged
  });

  it("are removed at startup when unreferenced", async () => {
    const { hash } = await upload(new Uint8Array(randomBytes(3000)), "referenced.bin");
    const before = new Set(await testBackend.listHashes(service.folder));
    const orphans = Array.from({ length: 12 }, (_, index) => index.toString(16).padStart(64, "0"));
    for (const orphan of orphans) await testBackend.put(service.folder, orphan, Buffer.from("orphan"));
    await service.service.stop();
    await service.service.start();
    const listHashes = () => testBackend.listHashes(service.folder);
    await until("the orphans are deleted", async () => !(await listHashes()).some((value) => orphans.includes(value)));
    expect(new Set(await listHashes())).toEqual(before);
    expect((await client.raw("GET", `/api/view?filename=${hash}.bin`)).status).toBe(200);
  });
});
