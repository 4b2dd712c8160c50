// What a crash may leave, removed at each start: temp files at once; blobs that no row names, and their thumbnails, in the background.
// The lock on the folder makes this safe: no other process writes here.

import { readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { hasBlobRow } from "./assets/change-asset";
import { type BlobStore } from "./assets/blob-store";
import { type Thumbnails } from "./assets/thumbnails/thumbnails";
import { type Database, query } from "./store/database";

export async function emptyFolder(folder: string): Promise<void> {
  for (const name of await readdir(folder)) await rm(join(folder, name), { recursive: true, force: true });
}

/**
 * Rows without an asset or a waiting job first, then files without a row, then thumbnails without their original. Returns how many files went.
 * In pieces, a 256th of the hashes in each: requests are answered while this runs.
 */
export async function sweepBlobs(database: Database, blobs: BlobStore, thumbnails: Pick<Thumbnails, "sweep">): Promise<number> {
  for (let shard = 0; shard < 256; shard += 1) await forgetUnnamed(database, hex(shard), shard === 255 ? "g" : hex(shard + 1));
  const isNamed = (hash: string) => hasBlobRow(database, hash);
  return (await blobs.sweep(isNamed)) + (await thumbnails.sweep(isNamed));
}

function forgetUnnamed(database: Database, from: string, to: string): Promise<number> {
  const unnamed = query
    .deleteFrom("blobs")
    .where("hash", ">=", from)
    .where("hash", "<", to)
    .where(({ not, exists, selectFrom }) =>
      not(exists(selectFrom("assets").select("assets.seq").whereRef("assets.hash", "=", "blobs.hash"))),
    )
    .where(({ not, exists, selectFrom }) =>
      not(exists(selectFrom("job_images").select("job_seq").whereRef("job_images.hash", "=", "blobs.hash"))),
    );
  return database.commit(() => database.run(unnamed));
}

function hex(shard: number): string {
  return shard.toString(16).padStart(2, "0");
}
