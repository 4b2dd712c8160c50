// The place of the bytes as LIGHTDESK_BLOBS names it (docs/decisions/0056). Without it the folder in the data folder, which no other process
// may use; with it a folder or a bucket that several may share.

import { join } from "node:path";
import { type BlobSetting } from "@/lib/service/blob-setting";
import { type ServiceLog } from "@/lib/service/options";
import { type ServiceSettings } from "@/lib/service/settings";
import { asStorageFailure } from "@/lib/service/storage-failure";
import { type Database, query } from "@/lib/service/store/database";
import { makeSyncedFolder } from "@/lib/service/store/sync-folder";
import { type BlobStore, createBlobStore, createOwnHolds, type Named } from "../blob-store";
import { withBlobRow } from "../change-asset";
import { type Folders } from "../folders";
import { isBucketError, openBucket } from "./bucket";
import { createBucketPlace, readBlob } from "./bucket-place";
import { createFolderPlace } from "./folder-place";
import { createLeases } from "./leases";
import { createLocalCopies } from "./local-copies";
import { claimPlace, ForeignPlace, guarded, idOf, type SharedPlace } from "./shared-place";

type Settings = Pick<ServiceSettings, "blobs" | "bucketKeys" | "blobCacheBytes">;
type Parts = { settings: Settings; folders: Folders; database: Database; now: () => number; log: ServiceLog };

export async function openBlobs({ settings, folders, database, now, log }: Parts): Promise<BlobStore> {
  const named: Named = (hashes) => withBlobRow(database, hashes);
  if (!settings.blobs) return createBlobStore(createFolderPlace(folders.blobs), createOwnHolds(named), named);
  const place = await openSharedPlace(settings.blobs, { settings, folders, now, log });
  const id = await idOf(database);
  const claimed = untilItSucceeds(() => claimPlace(place, id));
  await claimed().catch((error: unknown) => {
    if (!isOutage(error)) throw unusable(error);
    log.error({ err: error }, "the place of the bytes does not answer: until it does, no file is read and none is stored");
  });
  // The lock on the data folder says that no other process has this database: what is leased was leased by one that died.
  await database.commit((tx) => tx.run(query.deleteFrom("blob_leases")));
  return createBlobStore(guarded(place, claimed), createLeases({ database, named: withBlobRow, now, log }), named);
}

/** Of nobody yet: whoever opens it asks for its mark. */
export async function openSharedPlace(
  setting: BlobSetting,
  { settings, folders, now, log }: Omit<Parts, "database">,
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
