// Copies all files of a running service to another backend and back; an interrupted copy resumes.
import { randomBytes } from "node:crypto";
import { mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { copyBlobs } from "@/lib/service/index";
import { bucketSettings, parseSettings } from "@/tests/support/blob-backends";
import { startStrictS3 } from "@/tests/support/servers";
import { startService, type TestService } from "@/tests/support/service";
import { temporaryFolder } from "@/tests/support/temporary-folder";
import { asRecord, asString, canvas, submit, waitForEnd } from "./support";

const log = { info: () => undefined, warn: () => undefined, error: () => undefined };
const MIB = 1024 ** 2;
const s3 = await startStrictS3({ pageSize: 4 });
const testService = await startService();

it("copies to a bucket and back, resumes and names differences", async () => {
  const client = testService.client();
  const contents = new Map<string, Buffer>();
  for (const length of [0, 1, 300, 9 * MIB, ...Array.from({ length: 8 }, (_, index) => 1000 + index)]) {
    const bytes = randomBytes(length);
    const { id } = asRecord((await client.upload(new Uint8Array(bytes), `${length}.bin`)).body);
    contents.set(asString(id), bytes);
  }
  await waitForEnd(client, await submit(client, canvas(3)));
  const inBucket = bucketSettings(s3);
  const inFolder = { ...inBucket, blobs: undefined };
  const settings = parseSettings({}) as Parameters<typeof copyBlobs>[0]["settings"];
  const forth = () => copyBlobs({ dataDir: testService.folder, settings: { ...settings, ...inFolder }, to: s3.address("here"), log });

  // Interrupted in the middle, and run again while more files arrive.
  s3.order(/^PUT here\/blake3-v1\/[89a-f]/, "slow-down", 1000);
  await expect(forth()).rejects.toThrow(/object store did not take an object: SlowDown/);
  const first = s3.objects.size;
  s3.faults.length = 0;
  const seenBefore = s3.seen.length;
  const [secondCopy] = await Promise.all([forth(), client.upload("meanwhile", "meanwhile.txt")]);
  expect(secondCopy).toMatchObject({ missing: [], damaged: [] });
  expect(secondCopy.copied).toBeLessThanOrEqual(secondCopy.files - (first - 1));
  expect(s3.seen.slice(seenBefore).filter((operation) => /^(PUT|POST uploads) here\/blake3/.test(operation))).toHaveLength(
    secondCopy.copied,
  );
  expect((await forth()).copied).toBeLessThanOrEqual(1);

  const damaged = [...s3.objects].find(([, { size }]) => size === 300)?.[0] ?? "";
  await s3.plant(damaged, randomBytes(300));
  expect((await forth()).damaged).toEqual([damaged.slice("here/blake3-v1/".length).replace("/", "")]);
  s3.objects.delete(damaged);
  expect(await forth()).toMatchObject({ copied: 1, damaged: [] });

  // From here on, only the bucket is left.
  await testService.service.stop();
  await rm(join(testService.folder, "blobs", "blake3-v1"), { recursive: true });
  const copiedService = await startService({ ...inBucket, dataDir: testService.folder });
  const readAll = async (service: TestService) => {
    for (const [id, bytes] of contents) {
      const response = await service.client().raw("GET", `/api/assets/${id}/content`);
      expect(Buffer.from(await response.arrayBuffer()).equals(bytes), String(bytes.length)).toBe(true);
    }
  };
  await readAll(copiedService);
  await copiedService.service.stop();
  await expect(testService.service.start()).rejects.toThrow(/The files of \S+ are in s3:\S+\. Restore the earlier LIGHTDESK_BLOBS\./);
  const copyBack = () => copyBlobs({ dataDir: testService.folder, settings: { ...settings, ...inBucket }, to: "data-folder", log });
  await copiedService.service.start();
  const back = await copyBack();
  expect([back.copied, back.missing, back.damaged, back.todo]).toEqual([
    ...[back.files, [], []],
    expect.stringMatching(/in use by process \d+\. Stop that process.* then run this again/),
  ]);
  await copiedService.service.stop();
  await expect(testService.service.start()).rejects.toThrow(/The files of \S+ are in s3/);
  expect((await copyBack()).todo).toBeUndefined();
  await testService.service.start();
  await readAll(testService);
});

it("refuses to copy to the same store or to another database's", async () => {
  const settings = { ...bucketSettings(s3), blobCacheBytes: MIB, bucketKeys: undefined };
  const same = copyBlobs({ dataDir: testService.folder, settings: { ...settings, blobs: settings.blobs }, to: s3.address("here"), log });
  await expect(same).rejects.toThrow("The target must differ from LIGHTDESK_BLOBS");
  const otherBench = await startService();
  const foreign = copyBlobs({
    dataDir: otherBench.folder,
    settings: { ...settings, ...bucketSettings(s3), blobs: undefined, blobCacheBytes: MIB },
    to: s3.address("here"),
    log,
  });
  await expect(foreign).rejects.toThrow(/files of another database/);
});

it("uses its bucket when the marker file can't be written to the data folder", async () => {
  const dataDir = temporaryFolder();
  await mkdir(join(dataDir, "bytes-elsewhere.part"));
  const service = await startService({ ...bucketSettings(s3, "no-note"), dataDir });
  expect((await service.client().upload("text", "a.txt")).status).toBe(201);
});
