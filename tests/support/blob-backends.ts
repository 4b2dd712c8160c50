// The three blob backends of the service, each with its settings and functions to inspect it.
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readdir, rm, truncate, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { type ServiceOptions } from "@/lib/service/index";
import { readServiceSettings } from "@/lib/service/settings";
import { startStrictS3, type StrictS3, testKeys } from "./strict-s3";

export type BlobTestBackend = {
  options: Partial<ServiceOptions>;
  /** The stored hashes. `folder`: the service's folder. */
  hashes(folder: string): Promise<string[]>;
  put(folder: string, hash: string, bytes: Uint8Array): Promise<void>;
  cutShort(folder: string, hash: string): Promise<void>;
  remove(folder: string, hash: string): Promise<void>;
  close(): Promise<void>;
};

export function parseSettings(environment: Record<string, string>): Partial<ServiceOptions> {
  const reading = readServiceSettings(environment);
  if (!reading.ok) throw new Error(reading.problems.join("\n"));
  const { blobs, bucketKeys, blobCacheBytes, presignedSeconds } = reading.settings;
  return { blobs, bucketKeys, blobCacheBytes, presignedSeconds };
}

export const bucketSettings = (s3: StrictS3, prefix = "here", rest: Record<string, string> = {}) =>
  parseSettings({
    LIGHTDESK_BLOBS: s3.address(prefix),
    LIGHTDESK_S3_ACCESS_KEY_ID: testKeys.accessKeyId,
    LIGHTDESK_S3_SECRET_ACCESS_KEY: testKeys.secretAccessKey,
    ...rest,
  });

function inFolder(options: Partial<ServiceOptions>, rootOf: (folder: string) => string, close: () => Promise<void>): BlobTestBackend {
  const getPath = (folder: string, hash: string) => join(rootOf(folder), hash.slice(0, 2), hash.slice(2));
  return {
    options,
    hashes: async (folder) => {
      const files = await readdir(rootOf(folder), { recursive: true, withFileTypes: true });
      return files.filter((file) => file.isFile()).map(({ parentPath, name }) => parentPath.slice(-2) + name);
    },
    async put(folder, hash, bytes) {
      await mkdir(dirname(getPath(folder, hash)), { recursive: true });
      await writeFile(getPath(folder, hash), bytes);
    },
    cutShort: (folder, hash) => truncate(getPath(folder, hash), 10),
    remove: (folder, hash) => rm(getPath(folder, hash)),
    close,
  };
}

async function inBucket(): Promise<BlobTestBackend> {
  const s3 = await startStrictS3({ pageSize: 5 });
  const getKey = (hash: string) => `here/blake3-v1/${hash.slice(0, 2)}/${hash.slice(2)}`;
  return {
    options: bucketSettings(s3),
    hashes: () =>
      Promise.resolve([...s3.objects.keys()].filter((key) => key.includes("blake3-v1/")).map((key) => key.slice(15).replace("/", ""))),
    put: async (_folder, hash, bytes) => s3.plant(getKey(hash), bytes),
    cutShort: async (_folder, hash) => s3.plant(getKey(hash), Buffer.alloc(10)),
    remove: (_folder, hash) => Promise.resolve(void s3.objects.delete(getKey(hash))),
    close: s3.close,
  };
}

/** On another disk than the service's own folder, if the machine has one. */
async function inSharedFolder(): Promise<BlobTestBackend> {
  const shared = await mkdtemp(join(existsSync("/dev/shm") ? "/dev/shm" : tmpdir(), "lightdesk-shared-"));
  return inFolder(
    parseSettings({ LIGHTDESK_BLOBS: shared }),
    () => join(shared, "blake3-v1"),
    () => rm(shared, { recursive: true }),
  );
}

export const blobBackends: readonly [string, () => Promise<BlobTestBackend>][] = [
  [
    "its own folder",
    () =>
      Promise.resolve(
        inFolder(
          {},
          (folder) => join(folder, "blobs", "blake3-v1"),
          () => Promise.resolve(),
        ),
      ),
  ],
  ["a folder that several share", inSharedFolder],
  ["a bucket", inBucket],
];
