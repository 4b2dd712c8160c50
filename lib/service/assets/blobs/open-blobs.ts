// The place of the bytes as LIGHTDESK_BLOBS names it (docs/decisions/0056). Without it the folder in the data folder, which no other process
// may use; with it a folder or a bucket that several may share.

import { join } from "node:path";
import { type BlobSetting } from "@/lib/service/blob-setting";
import { type ServiceLog } from "@/lib/service/options";
import { type ServiceSettings } from "@/lib/service/settings";
import { asStorageFailure } from "@/lib/service/storage-failure";
import { type Database } from "@/lib/service/store/database";
import { type Processes } from "@/lib/service/store/processes";
import { makeSyncedFolder } from "@/lib/service/store/sync-folder";
import { type BlobStore, createBlobStore, createOwnHolds, type Named } from "../blob-store";
import { withBlobRow } from "../change-asset";
import { type Folders } from "../folders";
import { isBucketError, openBucket } from "./bucket";
import { createBucketPlace, readBlob } from "./bucket-place";
import { createFolderPlace } from "./folder-place";
import { createLeases, forgetDead } from "./leases";
import { createLocalCopies } from "./local-copies";
import { claimPlace, ForeignPlace, guarded, idOf, type SharedPlace } from "./shared-place";

type Settings = Pick<ServiceSettings, "blobs" | "bucketKeys" | "blobCacheBytes">;
type Parts = { settings: Settings; folders: Folders; database: Database; processes: Processes; now: () => number; log: ServiceLog };

export async function openBlobs({ settings, folders, database, processes, now, log }: Parts): Promise<BlobStore> {
  const named: Named = (hashes) => withBlobRow(database, hashes);
  if (!settings.blobs) {
    await requireAlone(processes);
    return createBlobStore(createFolderPlace(folders.blobs), createOwnHolds(named), named);
  }
  const place = await openSharedPlace(settings.blobs, { settings, folders, now, log });
  const id = await idOf(database);
  const claimed = untilItSucceeds(() => claimPlace(place, id));
  await claimed().catch((error: unknown) => {
    if (!isOutage(error)) throw unusable(error);
    log.error({ err: error }, "the place of the bytes does not answer: until it does, no file is read and none is stored");
  });
  await forgetDead({ database, processes, now });
  return createBlobStore(guarded(place, claimed), createLeases({ database, processes, named: withBlobRow, now, log }), named);
}

/** One that was killed a moment ago still looks alive. */
const PATIENCE_MS = 6000;
const ASK_AGAIN_MS = 250;

async function requireAlone(processes: Processes): Promise<void> {
  for (let waited = 0; !(await processes.isAlone()); waited += ASK_AGAIN_MS) {
    if (waited >= PATIENCE_MS)
      throw new Error(
        "Another process of the service has this database, and LIGHTDESK_BLOBS is not set: each would have files that the other lacks. Set it to a place that both share, in both, or stop one of them.",
      );
    await new Promise((resolve) => setTimeout(resolve, ASK_AGAIN_MS));
  }
}

/** Of nobody yet: whoever opens it asks for its mark. */
export async function openSharedPlace(
  setting: BlobSetting,
  { settings, folders, now, log }: Omit<Parts, "database" | "processes">,
): Promise<SharedPlace> {
  try {
    if (setting.kind === "folder") {
      const folder = join(setting.path, "blake3-v1");
      makeSyncedFolder(folder);
      return createFolderPlace(folder);
    }
    const bucket = await openBucket(setting, settings.bucketKeys);
    makeSyncedFolder(folders.blobCopies);
    const fetch = (hash: string) => readBlob(bucket, hash);
    const copies = createLocalCopies({ folder: folders.blobCopies, temp: folders.temp, mostBytes: settings.blobCacheBytes, fetch, log });
    return createBucketPlace(bucket, copies, now);
  } catch (error) {
    throw unusable(error);
  }
}

/** What asking again may mend; a wrong name or a wrong key it does not. */
function isOutage(error: unknown): boolean {
  if (!isBucketError(error)) return asStorageFailure(error) !== undefined;
  return error.reason !== "CredentialsProviderError" && (error.status === undefined || error.status === 429 || error.status >= 500);
}

function unusable(error: unknown): Error {
  if (error instanceof ForeignPlace) return error;
  const reason = error instanceof Error ? error.message : String(error);
  return new Error(`LIGHTDESK_BLOBS must be a place that this service may read and write. ${reason}`);
}

function untilItSucceeds(work: () => Promise<void>): () => Promise<void> {
  let underWay: Promise<void> | undefined;
  return () => {
    underWay ??= work().catch((error: unknown) => {
      underWay = undefined;
      throw error;
    });
    return underWay;
  };
}
