// What a crash may leave: temp files, removed at each start; blobs that no row names and their thumbnails, removed in the background, at a
// start and once a day. The lock on the folder makes this safe for what is in the folder, leases (assets/blobs) for what is shared.

import { readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { type BlobStore } from "./assets/blob-store";
import { withBlobRow } from "./assets/change-asset";
import { type Thumbnails } from "./assets/thumbnails/thumbnails";
import { isFirst, unhurried } from "./housekeeping";
import { type Database, query, type Transaction } from "./store/database";
import { type Processes } from "./store/processes";

export async function emptyFolder(folder: string): Promise<void> {
  for (const name of await readdir(folder)) await rm(join(folder, name), { recursive: true, force: true });
}

type Parts = {
  database: Database;
  processes: Pick<Processes, "id" | "live">;
  blobs: Pick<BlobStore, "sweep" | "sweepCache">;
  thumbnails: Pick<Thumbnails, "sweep">;
};

/** What processes share is swept by the first of them, caches by each. Returns how many files were removed. */
export async function sweep({ database, processes, blobs, thumbnails }: Parts, goOn: () => boolean): Promise<number> {
  const shared = (await isFirst(processes)) ? await sweepBlobs({ database, blobs }, goOn) : 0;
  if (!goOn()) return shared;
  return shared + (await blobs.sweepCache()) + (await thumbnails.sweep((hashes) => withBlobRow(database, hashes)));
}

/** First rows without an asset, a user's file or a waiting job, then files without a row. */
async function sweepBlobs({ database, blobs }: Pick<Parts, "database" | "blobs">, goOn: () => boolean): Promise<number> {
  let after: string | undefined = "";
  await unhurried(goOn, async () => {
    after = await database.commit((tx) => forgetUnnamed(tx, after ?? ""));
    return after !== undefined;
  });
  return goOn() ? blobs.sweep(goOn) : 0;
}

/** Takes less than a millisecond of a commit. */
const AT_ONCE = 100;

/** Inside a commit. Returns the last hash that was looked at; undefined if there are no more. */
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
