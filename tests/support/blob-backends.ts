// The service's three blob backends, each with its settings and functions to inspect and change it.
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
  listHashes(folder: string): Promise<string[]>;
  put(folder: string, hash: string, bytes: Uint8Array): Promise<void>;
  truncate(folder: string, hash: string): Promise<void>;
  remove(folder: string, hash: string): Promise<void>;
  close(): Promise<void>;
};

export function parseSettings(environment: Record<string, string>): Partial<ServiceOptions> {
  const result = readServiceSettings(environment);
  if (!result.ok) throw new Error(result.problems.join("\n"));
  const { blobs, bucketKeys, blobCacheBytes, presignedSeconds } = result.settings;
  return { blobs, bucketKeys, blobCacheBytes, presignedSeconds };
}

export const createBucketSettings = (s3: StrictS3, prefix = "here", overrides: Record<string, string> = {}) =>
  parseSettings({
    LIGHTDESK_BLOBS: s3.address(prefix),
    LIGHTDESK_S3_ACCESS_KEY_ID: testKeys.accessKeyId,
    LIGHTDESK_S3_SECRET_ACCESS_KEY: testKeys.secretAccessKey,
    ...overrides,
  });

function createFolderBackend(
  options: Partial<ServiceOptions>,
  getRoot: (folder: string) => string,
  close: () => Promise<void>,
): BlobTestBackend {
  const getPath = (folder: string, hash: string) => join(getRoot(folder), hash.slice(0, 2), hash.slice(2));
  return {
    options,
    listHashes: async (folder) => {
      const files = await readdir(getRoot(folder), { recursive: true, withFileTypes: true });
      return files.filter((file) => file.isFile()).map(({ parentPath, name }) => parentPath.slice(-2) + name);
    },
    async put(folder, hash, bytes) {
      await mkdir(dirname(getPath(folder, hash)), { recursive: true });
      await writeFile(getPath(folder, hash), bytes);
    },
    truncate: (folder, hash) => truncate(getPath(folder, hash), 10),
    remove: (folder, hash) => rm(getPath(folder, hash)),
    close,
  };
}

async function createBucketBackend(): Promise<BlobTestBackend> {
  const s3 = await startStrictS3({ pageSize: 5 });
  const getKey = (hash: string) => `here/blake3-v1/${hash.slice(0, 2)}/${hash.slice(2)}`;
  return {
    options: createBucketSettings(s3),
    listHashes: () =>
      Promise.resolve([...s3.objects.keys()].filter((key) => key.includes("blake3-v1/")).map((key) => key.slice(15).replace("/", ""))),
    put: async (_folder, hash, bytes) => s3.putObject(getKey(hash), bytes),
    truncate: async (_folder, hash) => s3.putObject(getKey(hash), Buffer.alloc(10)),
    remove: (_folder, hash) => Promise.resolve(void s3.objects.delete(getKey(hash))),
    close: s3.close,
  };
}

/** Uses another disk than the service's own folder, if the machine has one. */
async function createSharedFolderBackend(): Promise<BlobTestBackend> {
  const shared = await mkdtemp(join(existsSync("/dev/shm") ? "/dev/shm" : tmpdir(), "lightdesk-shared-"));
  return createFolderBackend(
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
        createFolderBackend(
          {},
          (folder) => join(folder, "blobs", "blake3-v1"),
          () => Promise.resolve(),
        ),
      ),
  ],
  ["a shared folder", createSharedFolderBackend],
  ["a bucket", createBucketBackend],
];
