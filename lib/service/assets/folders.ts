// Where things lie inside the service's own folder. One place, so that a sweep knows every other place.

import { join } from "node:path";
import { makeSyncedFolder } from "../store/sync-folder";

export type Folders = ReturnType<typeof makeFolders>;

export function makeFolders(dataDir: string) {
  const folders = {
    root: dataDir,
    database: join(dataDir, "service.sqlite"),
    /** The version of the layout is part of its name. */
    blobs: join(dataDir, "blobs", "blake3-v1"),
    /** Uploads in flight: emptied at each start, as `work` is. On the disk of the blobs, so that a link suffices. */
    temp: join(dataDir, "tmp"),
    /** What running jobs put out, until it is stored. */
    work: join(dataDir, "work"),
    /** What has arrived of unfinished downloads; kept across restarts. On the disk of the blobs as well. */
    downloads: join(dataDir, "downloads"),
    thumbnails: join(dataDir, "thumbnails"),
    nodeCache: join(dataDir, "node-cache"),
    /** Copies of bytes that lie in a bucket; made when they are needed. On the disk of `temp`. */
    blobCopies: join(dataDir, "blob-copies"),
    /** Of users, from before their files were rows (userdata/import-files.ts). */
    userdata: join(dataDir, "userdata"),
  };
  const { blobs, temp, work, downloads, thumbnails, nodeCache } = folders;
  for (const folder of [blobs, temp, work, downloads, thumbnails, nodeCache]) {
    makeSyncedFolder(folder);
  }
  return folders;
}
