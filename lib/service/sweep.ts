// What a crash may leave, removed at each start: temp files at once, blobs that no row names in the background.
// The lock on the folder makes this safe: nobody else writes here.

import { readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { hasBlobRow } from "./assets/change-asset";
import { type BlobStore } from "./assets/blob-store";
import { type Database, query } from "./store/database";

export async function emptyFolder(folder: string): Promise<void> {
  for (const name of await readdir(folder)) await rm(join(folder, name), { recursive: true, force: true });
}

/** Rows without an asset or a waiting job first, then files without a row. Returns how many files went. */
export async function sweepBlobs(database: Database, blobs: BlobStore): Promise<number> {
  await database.commit(() =>
    database.run(
      query
        .deleteFrom("blobs")
        .where(({ not, exists, selectFrom }) =>
          not(exists(selectFrom("assets").select("assets.seq").whereRef("assets.hash", "=", "blobs.hash"))),
        )
        .where(({ not, exists, selectFrom }) =>
          not(exists(selectFrom("job_images").select("job_seq").whereRef("job_images.hash", "=", "blobs.hash"))),
        ),
    ),
  );
  return blobs.sweep((hash) => hasBlobRow(database, hash));
}
