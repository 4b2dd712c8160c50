// The path of a hash's bytes below the blob folder. Separate from the store because workers that read need nothing else.

import { join } from "node:path";

export function blobPath(folder: string, hash: string): string {
  return join(folder, hash.slice(0, 2), hash.slice(2));
}
