// What a crash may leave, removed at each start: temp files at once; blobs that no row names, and their thumbnails, in the background.
// The lock on the folder makes this safe: no other process writes here.

import { readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { withBlobRow } from "./assets/change-asset";
import { type BlobStore } from "./assets/blob-store";
import { type Thumbnails } from "./assets/thumbnails/thumbnails";
import { unhurried } from "./housekeeping";
import { type Database, query, type Transaction } from "./store/database";

export async function emptyFolder(folder: string): Promise<void> {
  for (const name of await readdir(folder)) await rm(join(folder, name), { recursive: true, force: true });
}

type Parts = { database: Database; blobs: Pick<BlobStore, "sweep">; thumbnails: Pick<Thumbnails, "sweep"> };

/** Rows without an asset, a file of a user or a waiting job first, then files without a row, then thumbnails without their original. Returns how many files went. */
export async function sweepBlobs({ database, blobs, thumbnails }: Parts, goOn: () => boolean): Promise<number> {
  let after: string | undefined = "";
  await unhurried(goOn, async () => {
    after = await database.commit((tx) => forgetUnnamed(tx, after ?? ""));
    return after !== undefined;
  });
  if (!goOn()) return 0;
  return (await blobs.sweep(goOn)) + (await thumbnails.sweep((hashes) => withBlobRow(database, hashes)));
}

/** Less than a millisecond of a commit. */
const AT_ONCE = 100;

/** Inside a commit. Returns the last hash that was looked at; undefined where there is no further one. */
async function forgetUnnamed(tx: Transaction, after: string): Promise<string | undefined> {
  const next = query.selectFrom("blobs").select("hash").where("hash", ">", after).orderBy("hash").limit(AT_ONCE);
  const last = (await tx.rows(next)).at(-1)?.hash;
  if (last === undefined) return undefined;
  const unnamed = query
    .deleteFrom("blobs")
    .where("hash", ">", after)
    .where("hash", "<=", last)
    .where(({ not, exists, selectFrom }) =>
      not(exists(selectFrom("assets").select("assets.seq").whereRef("assets.hash", "=", "blobs.hash"))),
    )
    .where(({ not, exists, selectFrom }) =>
      not(exists(selectFrom("user_files").select("path").whereRef("user_files.hash", "=", "blobs.hash"))),
    )
    .where(({ not, exists, selectFrom }) =>
      not(exists(selectFrom("job_images").select("job_seq").whereRef("job_images.hash", "=", "blobs.hash"))),
    );
  await tx.run(unnamed);
  return last;
}
