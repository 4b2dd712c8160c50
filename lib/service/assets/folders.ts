// Where things lie inside the service's data folder. All in one place, so that a sweep knows every folder.

import { join } from "node:path";
import { makeSyncedFolder } from "../store/sync-folder";

export type Folders = ReturnType<typeof makeFolders>;

export function makeFolders(dataDir: string) {
  const folders = {
    root: dataDir,
    database: join(dataDir, "service.sqlite"),
    /** The name includes the version of the layout. */
    blobs: join(dataDir, "blobs", "blake3-v1"),
    /** Unfinished uploads; emptied at each start, like `work`. On the same disk as the blobs, so that a link is enough. */
    temp: join(dataDir, "tmp"),
    /** Outputs of running jobs until they are stored. */
    work: join(dataDir, "work"),
    /** The parts of unfinished downloads that have arrived; kept across restarts. Also on the disk of the blobs. */
    downloads: join(dataDir, "downloads"),
    thumbnails: join(dataDir, "thumbnails"),
    nodeCache: join(dataDir, "node-cache"),
    /** Copies of bytes that are stored in a bucket; made on demand. On the same disk as `temp`. */
    blobCopies: join(dataDir, "blob-copies"),
    /** Users' files from before they were rows (userdata/import-files.ts). */
    userdata: join(dataDir, "userdata"),
  };
  const { blobs, temp, work, downloads, thumbnails, nodeCache } = folders;
  for (const folder of [blobs, temp, work, downloads, thumbnails, nodeCache]) {
    makeSyncedFolder(folder);
  }
  return folders;
}
