// Tests a failing bucket. Outages are reported, and no data is lost or leaked.
import { randomBytes } from "node:crypto";
import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import sharp from "sharp";
import { afterAll, afterEach, describe, expect, it } from "vitest";
import { createBucketSettings, parseSettings } from "@/tests/support/blob-backends";
import { startStrictS3 } from "@/tests/support/servers";
import { startService } from "@/tests/support/service";
import { testKeys } from "@/tests/support/strict-s3";
import { createTemporaryFolder } from "@/tests/support/temporary-folder";
import { until } from "@/tests/support/until";
import { asRecord, asString, createColorGraph, createPng, fetchBytes, runGraph } from "./support";

const MIB = 1024 ** 2;
const outage = { status: 503, body: { code: "SERVICE_UNAVAILABLE", message: expect.stringContaining("object store") } };
const createBytes = (length: number) => new Uint8Array(randomBytes(length));

describe("a service with a bucket", async () => {
  const s3 = await startStrictS3();
  const service = await startService(createBucketSettings(s3, "", { LIGHTDESK_BLOB_CACHE_BYTES: String(4 * MIB) }));
  const client = service.client();
  afterEach(async () => {
    s3.state.isMissing = false;
    expect(await readdir(join(service.folder, "tmp"))).toEqual([]);
  });
  afterAll(async () => {
    const loggedText = JSON.stringify(service.loggedErrors, (_, value: unknown) =>
      value instanceof Error ? { ...value, text: value.stack } : value,
    );
    await service.dispose();
    await s3.close();
    expect(loggedText).toContain("NoSuchBucket");
    for (const secret of [testKeys.accessKeyId, testKeys.secretAccessKey, "AWS4-HMAC"]) expect(loggedText).not.toContain(secret);
  });

  const upload = async (bytes: Uint8Array<ArrayBuffer>) => {
    const response = await client.upload(bytes, "a.bin");
    expect([response.status, response.text]).toEqual([201, expect.any(String)]);
    return { id: asString(asRecord(response.body).id), hash: asString(asRecord(response.body).asset_hash).slice(7) };
  };
  const readBytes = (path: string) => fetchBytes(client, path);

  it("returns 503 instead of 404 without the bucket, then recovers", async () => {
    const image = createPng(20, 20, { seed: 9 });
    const { hash, id } = await upload(image);
    s3.state.isMissing = true;
    for (const path of [`/api/view?filename=${hash}.png`, `/api/assets/${id}/content`]) {
      expect(await client.get(path), path).toMatchObject(outage);
      expect((await client.raw("HEAD", path)).status, path).toBe(503);
    }
    const lostBytes = createBytes(500);
    expect(await client.upload(lostBytes, "lost.bin")).toMatchObject(outage);
    expect(asRecord((await client.get("/api/assets?name_contains=lost")).body).total).toBe(0);
    const job = await runGraph(client, createColorGraph(7));
    expect(job).toMatchObject({ status: "failed", execution_error: { exception_type: "StorageUnavailable" } });
    s3.state.isMissing = false;
    expect((await readBytes(`/api/view?filename=${hash}.png`)).equals(Buffer.from(image))).toBe(true);
    expect((await client.upload(lostBytes, "found.bin")).status).toBe(201);
    expect(await runGraph(client, createColorGraph(8))).toMatchObject({ status: "completed" });
  });

  it("retries on a slow-down response, then returns 503", async () => {
    s3.addFault(/^PUT blake3/, "slow-down", 2);
    const { id } = await upload(createBytes(900));
    s3.addFault(/^GET blake3/, "slow-down", 3);
    expect(await client.get(`/api/assets/${id}/content`)).toMatchObject(outage);
    expect((await client.get(`/api/assets/${id}/content`)).status).toBe(200);
  });

  it("resumes a truncated response until every byte is read", async () => {
    const bytes = createBytes(3 * MIB);
    const { id } = await upload(bytes);
    s3.addFault(/^GET blake3/, "cut", 2);
    expect((await readBytes(`/api/assets/${id}/content`)).equals(Buffer.from(bytes))).toBe(true);
    expect(s3.operations.filter((operation) => operation.startsWith("GET blake3")).length).toBeGreaterThanOrEqual(3);
    s3.addFault(/^GET blake3/, "cut", 9);
    await expect(readBytes(`/api/assets/${id}/content`)).rejects.toThrow();
    s3.faults.length = 0;
  });

  it("completes multipart uploads despite a failed or lost completion", async () => {
    for (const fault of ["error-in-200", "lost-answer", "slow-down"] as const) {
      s3.addFault(/^POST uploadId/, fault);
      const bytes = createBytes(9 * MIB);
      const { id } = await upload(bytes);
      expect((await readBytes(`/api/assets/${id}/content`)).equals(Buffer.from(bytes)), fault).toBe(true);
    }
    s3.addFault(/^PUT blake3/, "lost-answer");
    const { id } = await upload(createBytes(100));
    expect((await readBytes(`/api/assets/${id}/content`)).length).toBe(100);
    expect(s3.uploads.size).toBe(0);
  });

  it("leaves no parts behind when an upload fails permanently", async () => {
    s3.addFault(/^PUT partNumber/, "slow-down", 50);
    expect(await client.upload(createBytes(9 * MIB), "a.bin")).toMatchObject(outage);
    s3.faults.length = 0;
    s3.addFault(/^POST uploadId/, "error-in-200", 50);
    expect(await client.upload(createBytes(9 * MIB), "a.bin")).toMatchObject(outage);
    s3.faults.length = 0;
    expect(s3.uploads.size).toBe(0);
  });

  it("stores other uploads while a large one is in progress", async () => {
    const previousCount = s3.operations.length;
    const release = s3.hold(/^PUT partNumber/);
    const largeUpload = upload(createBytes(30 * MIB));
    await until(
      "parts are being uploaded",
      () => s3.operations.slice(previousCount).filter((operation) => operation.startsWith("PUT partNumber")).length >= 3,
    );
    await upload(createBytes(100));
    release();
    await largeUpload;
  });

  it("stores in a bucket without conditional requests", async () => {
    s3.state.supportsConditions = false;
    for (const length of [700, 9 * MIB]) {
      const bytes = createBytes(length);
      const { id } = await upload(bytes);
      expect((await readBytes(`/api/assets/${id}/content`)).equals(Buffer.from(bytes))).toBe(true);
    }
    s3.state.supportsConditions = true;
  });

  it("stops reading from the bucket when the client disconnects", async () => {
    const { id } = await upload(createBytes(40 * MIB));
    const response = await client.raw("GET", `/api/assets/${id}/content`);
    const reader = response.body?.getReader();
    expect((await reader?.read())?.value?.length).toBeGreaterThan(0);
    await until("the bucket is sending", () => s3.countActiveResponses() === 1);
    await reader?.cancel();
    await until("the bucket has stopped", () => s3.countActiveResponses() === 0);
  });

  it("keeps cached copies within their limit and refetches evicted ones", async () => {
    const images: Uint8Array<ArrayBuffer>[] = [];
    for (let count = 0; count < 7; count += 1) images.push(await createNoiseImage());
    for (const image of images) {
      const { hash } = await upload(image);
      expect((await client.raw("GET", `/api/view?filename=${hash}.png&res=64`)).status).toBe(200);
    }
    const files = await readdir(join(service.folder, "blob-copies"), { recursive: true, withFileTypes: true });
    const sizes = await Promise.all(files.filter((file) => file.isFile()).map((file) => stat(join(file.parentPath, file.name))));
    expect(sizes.length).toBeGreaterThan(1);
    expect(sizes.reduce((sum, { size }) => sum + size, 0)).toBeLessThanOrEqual(4 * MIB);
    // An evicted copy is fetched again.
    const { asset_hash } = asRecord((await client.upload(images[0] ?? createBytes(1), "again.png")).body);
    expect((await client.raw("GET", `/api/view?filename=${encodeURIComponent(asString(asset_hash))}&channel=rgb`)).status).toBe(200);
  });
});

describe("a start with a bucket", async () => {
  const s3 = await startStrictS3();

  it("fails with wrong keys, no bucket or another database's files", async () => {
    const wrongSecret = { ...createBucketSettings(s3, "a"), bucketKeys: () => ({ ...testKeys, secretAccessKey: "wrong" }) };
    await expect(startService(wrongSecret)).rejects.toThrow(/^LIGHTDESK_BLOBS must be .*SignatureDoesNotMatch/);
    const otherSettings = parseSettings({ LIGHTDESK_BLOBS: s3.address("a").replace("blobs", "others") });
    await expect(startService({ ...otherSettings, bucketKeys: () => testKeys })).rejects.toThrow(/^LIGHTDESK_BLOBS must be .*NoSuchBucket/);
    await startService(createBucketSettings(s3, "a"));
    const objectCount = s3.objects.size;
    await expect(startService(createBucketSettings(s3, "a"))).rejects.toThrow(/contains the files of another database/);
    await s3.putObject("b/blake3-v1/ab/".padEnd(77, "0"), Buffer.from("x"));
    await expect(startService(createBucketSettings(s3, "b"))).rejects.toThrow(/files without an owner marker/);
    expect(s3.objects.size).toBe(objectCount + 1);
  });

  it("succeeds during an outage but deletes nothing before verifying the bucket", async () => {
    const folder = createTemporaryFolder();
    const key = "c/blake3-v1/ab/".padEnd(77, "0");
    await s3.putObject(key, Buffer.from("x"));
    await s3.putObject("c/lightdesk-store", Buffer.from("another database"));
    s3.addFault(/c\//, "slow-down", 1000);
    const service = await startService({ ...createBucketSettings(s3, "c"), dataDir: folder });
    expect(JSON.stringify(service.loggedErrors)).toContain("blob store unavailable");
    s3.faults.length = 0;
    expect((await service.client().upload("new", "new.txt")).status).toBe(500);
    expect([...s3.objects.keys()].filter((value) => value.startsWith("c/"))).toEqual([key, "c/lightdesk-store"]);
  });
});

/** Creates an image of about 750 KB. */
async function createNoiseImage(): Promise<Uint8Array<ArrayBuffer>> {
  const image = sharp(createBytes(500 * 500 * 3), { raw: { width: 500, height: 500, channels: 3 } });
  return new Uint8Array(await image.png({ compressionLevel: 0 }).toBuffer());
}

it("reports the setting of a malformed bucket URL and accepts endpoint paths", () => {
  expect(() => parseSettings({ LIGHTDESK_BLOBS: "s3://bucket/100%" })).toThrow("LIGHTDESK_BLOBS must be");
  const endpoint = "https://store.example.com/storage/v1/s3";
  expect(parseSettings({ LIGHTDESK_BLOBS: `s3://bucket/here?endpoint=${endpoint}` }).blobs).toMatchObject({ endpoint });
});
