// Where the bytes of a hash lie below the folder of blobs. Apart from the store, since a worker that reads needs no more than this.

import { join } from "node:path";

export function blobPath(folder: string, hash: string): string {
  return join(folder, hash.slice(0, 2), hash.slice(2));
}
