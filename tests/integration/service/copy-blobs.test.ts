// Copies the files of a running service to another backend and back, and resumes an interrupted copy.
import { randomBytes } from "node:crypto";
import { mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { copyBlobs } from "@/lib/service/index";
import { createBucketSettings, parseSettings } from "@/tests/support/blob-backends";
import { startStrictS3 } from "@/tests/support/servers";
import { startService, type TestService } from "@/tests/support/service";
import { createTemporaryFolder } from "@/tests/support/temporary-folder";
import { asRecord, asString, createColorGraph, fetchBytes, runGraph, silentLog as log } from "./support";

const MIB = 1024 ** 2;
const s3 = await startStrictS3({ pageSize: 4 });
const testService = await startService();

it("copies to a bucket and back, resumes and reports damaged files", async () => {
  const client = testService.client();
  const contents = new Map<string, Buffer>();
  for (const length of [0, 1, 300, 9 * MIB, ...Array.from({ length: 8 }, (_, index) => 1000 + index)]) {
    const bytes = randomBytes(length);
    const { id } = asRecord((await client.upload(new Uint8Array(bytes), `${length}.bin`)).body);
    contents.set(asString(id), bytes);
  }
  await runGraph(client, createColorGraph(3));
  const bucketOptions = createBucketSettings(s3);
  const folderOptions = { ...bucketOptions, blobs: undefined };
  const settings = parseSettings({}) as Parameters<typeof copyBlobs>[0]["settings"];
  const copyToBucket = () =>
    copyBlobs({ dataDir: testService.folder, settings: { ...settings, ...folderOptions }, to: s3.address("here"), log });

  // The copy is interrupted, then run again during an upload.
  s3.addFault(/^PUT here\/blake3-v1\/[89a-f]/, "slow-down", 1000);
  await expect(copyToBucket()).rejects.toThrow(/object store did not store an object: SlowDown/);
  const objectCount = s3.objects.size;
  s3.faults.length = 0;
  const previousCount = s3.operations.length;
  const [secondCopy] = await Promise.all([copyToBucket(), client.upload("meanwhile", "meanwhile.txt")]);
  expect(secondCopy).toMatchObject({ missing: [], damaged: [] });
  expect(secondCopy.copied).toBeLessThanOrEqual(secondCopy.files - (objectCount - 1));
  expect(s3.operations.slice(previousCount).filter((operation) => /^(PUT|POST uploads) here\/blake3/.test(operation))).toHaveLength(
    secondCopy.copied,
  );
  expect((await copyToBucket()).copied).toBeLessThanOrEqual(1);

  const damagedKey = [...s3.objects].find(([, { size }]) => size === 300)?.[0] ?? "";
  await s3.putObject(damagedKey, randomBytes(300));
  expect((await copyToBucket()).damaged).toEqual([damagedKey.slice("here/blake3-v1/".length).replace("/", "")]);
  s3.objects.delete(damagedKey);
  expect(await copyToBucket()).toMatchObject({ copied: 1, damaged: [] });

  // From here on, only the bucket has the files.
  await testService.service.stop();
  await rm(join(testService.folder, "blobs", "blake3-v1"), { recursive: true });
  const copiedService = await startService({ ...bucketOptions, dataDir: testService.folder });
  const expectAllContents = async (service: TestService) => {
    for (const [id, bytes] of contents) {
      expect((await fetchBytes(service.client(), `/api/assets/${id}/content`)).equals(bytes), String(bytes.length)).toBe(true);
    }
  };
  await expectAllContents(copiedService);
  await copiedService.service.stop();
  await expect(testService.service.start()).rejects.toThrow(/The files of \S+ are in s3:\S+\. Restore the earlier LIGHTDESK_BLOBS\./);
  const copyBack = () => copyBlobs({ dataDir: testService.folder, settings: { ...settings, ...bucketOptions }, to: "data-folder", log });
  await copiedService.service.start();
  const copyResult = await copyBack();
  expect([copyResult.copied, copyResult.missing, copyResult.damaged, copyResult.nextStep]).toEqual([
    ...[copyResult.files, [], []],
    expect.stringMatching(/in use by process \d+\. Stop that process.* then run this again/),
  ]);
  await copiedService.service.stop();
  await expect(testService.service.start()).rejects.toThrow(/The files of \S+ are in s3/);
  expect((await copyBack()).nextStep).toBeUndefined();
  await testService.service.start();
  await expectAllContents(testService);
});

it("rejects copies to the same store or to another database's store", async () => {
  const settings = { ...createBucketSettings(s3), blobCacheBytes: MIB, bucketKeys: undefined };
  const sameStoreCopy = copyBlobs({
    dataDir: testService.folder,
    settings: { ...settings, blobs: settings.blobs },
    to: s3.address("here"),
    log,
  });
  await expect(sameStoreCopy).rejects.toThrow("The target must differ from LIGHTDESK_BLOBS");
  const otherService = await startService();
  const otherDatabaseCopy = copyBlobs({
    dataDir: otherService.folder,
    settings: { ...settings, ...createBucketSettings(s3), blobs: undefined, blobCacheBytes: MIB },
    to: s3.address("here"),
    log,
  });
  await expect(otherDatabaseCopy).rejects.toThrow(/files of another database/);
});

it("uses its bucket when the marker file can't be written to the data folder", async () => {
  const dataDir = createTemporaryFolder();
  await mkdir(join(dataDir, "bytes-elsewhere.part"));
  const service = await startService({ ...createBucketSettings(s3, "no-marker"), dataDir });
  expect((await service.client().upload("text", "a.txt")).status).toBe(201);
});
