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
    /** Uploads in flight and the outputs of running jobs: emptied at each start. On the disk of the blobs, so that a link suffices. */
    temp: join(dataDir, "tmp"),
    /** What has arrived of unfinished downloads; kept across restarts. On the disk of the blobs as well. */
    downloads: join(dataDir, "downloads"),
    thumbnails: join(dataDir, "thumbnails"),
    nodeCache: join(dataDir, "node-cache"),
    userdata: join(dataDir, "userdata"),
  };
  for (const folder of [folders.blobs, folders.temp, folders.downloads, folders.thumbnails, folders.nodeCache, folders.userdata]) {
    makeSyncedFolder(folder);
  }
  return folders;
}
