// Opens the place of the bytes that LIGHTDESK_BLOBS names (docs/decisions/0056). Without the setting it is the folder in the data folder,
// which no other process may use; with it a folder or a bucket that several may share.

import { join } from "node:path";
import { type BlobSetting } from "@/lib/service/blob-setting";
import { type ServiceLog } from "@/lib/service/options";
import { type ServiceSettings } from "@/lib/service/settings";
import { asStorageFailure } from "@/lib/service/storage-failure";
import { type Database, query } from "@/lib/service/store/database";
import { type Processes } from "@/lib/service/store/processes";
import { makeSyncedFolder } from "@/lib/service/store/sync-folder";
import { idOf } from "@/lib/service/store/where-rows-are";
import { PUBLIC_OWNER } from "@/lib/service/users/user";
import { type BlobStore, createBlobStore, createOwnHolds, type Named } from "../blob-store";
import { withBlobRow } from "../change-asset";
import { type Folders } from "../folders";
import { isBucketError, openBucket } from "./bucket";
import { createBucketPlace, readBlob } from "./bucket-place";
import { noteElsewhere, requireBytesHere } from "./bytes-elsewhere";
import { createFolderPlace } from "./folder-place";
import { createLeases, forgetDead } from "./leases";
import { createLocalCopies } from "./local-copies";
import { claimPlace, ForeignPlace, guarded, type SharedPlace } from "./shared-place";

type Settings = Pick<ServiceSettings, "blobs" | "bucketKeys" | "blobCacheBytes"> & Partial<Pick<ServiceSettings, "presignedSeconds">>;
type Parts = { settings: Settings; folders: Folders; database: Database; processes: Processes; now: () => number; log: ServiceLog };

export async function openBlobs({ settings, folders, database, processes, now, log }: Parts): Promise<BlobStore> {
  const named: Named = (hashes) => withBlobRow(database, hashes);
  const { blobs } = settings;
  if (!blobs) {
    requireBytesHere(folders.root);
    return createBlobStore(createFolderPlace(folders.blobs), createOwnHolds(named), named);
  }
  const place = await openSharedPlace(blobs, { settings, folders, now, log });
  const id = await idOf(database);
  const claimed = untilItSucceeds(async () => {
    await requireFilesCopied(place, database);
    await claimPlace(place, id);
    // The place is healthy all the same; the next start tries again.
    await noteElsewhere(folders.root, blobs).catch((error: unknown) =>
      log.error({ err: error }, "the data folder did not take the note that its files are in another place"),
    );
  });
  await claimed().catch((error: unknown) => {
    if (!isOutage(error)) throw unusable(error);
    log.error({ err: error }, "the place of the bytes does not answer: until it does, no file is read and none is stored");
  });
  await forgetDead({ database, processes, now });
  return createBlobStore(guarded(place, claimed), createLeases({ database, processes, named: withBlobRow, now, log }), named);
}

/** A place without a mark has no files of this database: they are still in the earlier place, and would be missing. */
async function requireFilesCopied(place: SharedPlace, database: Database): Promise<void> {
  if ((await place.readMark()) !== undefined) return;
  const ofUsers = query.selectFrom("assets").select("seq").where("owner_id", "<>", PUBLIC_OWNER).limit(1);
  if (((await database.row(ofUsers)) ?? (await database.row(query.selectFrom("user_files").select("path").limit(1)))) === undefined) return;
  throw new ForeignPlace(
    "LIGHTDESK_BLOBS must be where the files are, and none was brought to this place. With the setting as it was before, run npm run copy-blobs -- --to PLACE, then start with it.",
  );
}

/** Not yet claimed for a database: the caller checks its mark. */
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
    return createBucketPlace({ bucket, copies, presignedSeconds: settings.presignedSeconds, now });
  } catch (error) {
    throw unusable(error);
  }
}

/** Errors that may pass when asked again; a wrong name or key does not. */
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
