// Tries whether the place that LIGHTDESK_BLOBS names can do everything that the service needs, for the check of an installation.
// Guarantees: what it wrote there is removed again, even if a trial fails. Must never: claim the place, or touch what is stored there.

import { randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import { link, open, rm } from "node:fs/promises";
import { join } from "node:path";
import { type BlobSetting } from "@/lib/service/blob-setting";
import { type ServiceSettings } from "@/lib/service/settings";
import { type Bucket, isBucketError, openBucket } from "./bucket";
import { MARK } from "./bucket-place";
import { createFolderPlace } from "./folder-place";

/**
 * `mark`: the id of the database whose files are there. `keepsFirst`: writing an existing key as a new one leaves its content unchanged.
 */
export type TriedPlace = { isThere: boolean; mark?: string; keepsFirst?: boolean };

/** Throws a sentence that says what does not work. */
export async function tryBlobPlace(setting: BlobSetting, { bucketKeys }: Pick<ServiceSettings, "bucketKeys">): Promise<TriedPlace> {
  if (setting.kind === "folder") return tryFolder(setting.path);
  return tryBucket(await openBucket(setting, bucketKeys));
}

async function tryFolder(path: string): Promise<TriedPlace> {
  if (!existsSync(path)) return { isThere: false };
  const mark = await createFolderPlace(join(path, "blake3-v1")).readMark();
  const probe = join(path, probeName());
  const second = `${probe}-2`;
  try {
    const file = await open(probe, "wx", 0o600);
    await file.sync().finally(() => file.close());
    await link(probe, second);
    return { isThere: true, mark };
  } finally {
    for (const one of [probe, second]) await rm(one, { force: true });
  }
}

async function tryBucket(bucket: Bucket): Promise<TriedPlace> {
  const found = await bucket.get(MARK);
  const mark = (await found?.Body?.transformToString())?.trim();
  const key = probeName();
  const bytes = Buffer.from(key);
  try {
    const isTaken = await putNew(bucket, key, bytes);
    if (!isTaken) await bucket.put(key, bytes, false);
    const read = await (await bucket.get(key))?.Body?.transformToString();
    if (read !== key) throw new Error("The object store does not give back what it took.");
    if (!(await isListed(bucket, key))) throw new Error("The object store does not list what it took.");
    return { isThere: true, mark, keepsFirst: isTaken && !(await putNew(bucket, key, bytes)) };
  } finally {
    // If the store accepts nothing, there is nothing to remove either, and its first error is the one to report.
    await bucket.remove(key).catch(() => undefined);
  }
}

/** False if the key exists, or the store does not support the condition. */
async function putNew(bucket: Bucket, key: string, bytes: Uint8Array): Promise<boolean> {
  try {
    await bucket.put(key, bytes, true);
    return true;
  } catch (error) {
    if (isBucketError(error) && (error.status === 412 || error.status === 501)) return false;
    throw error;
  }
}

async function isListed(bucket: Bucket, key: string): Promise<boolean> {
  for await (const one of bucket.keys(key)) if (one === key) return true;
  return false;
}

const probeName = () => `lightdesk-doctor-${randomUUID()}`;
