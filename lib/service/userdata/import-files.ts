// Imports users' own files from before they were rows: they lay in a folder, FOLDER/<number of the user>/<path>.
// Guarantees: a file leaves the folder once its row and its bytes are on the disk; an interrupted import goes on at the next start. What
// cannot be imported (no user of that number, a link, a file of that name in the database) stays where it is, and the log says so.

import { rmdir, stat, unlink } from "node:fs/promises";
import { join, relative, sep } from "node:path";
import { codeOf } from "@/lib/shared/error-codes";
import { type BlobStore } from "../assets/blob-store";
import { insertBlob } from "../assets/create-asset";
import { type StagedFile, stageFile } from "../assets/staged-file";
import { type ServiceLog } from "../options";
import { filesBelow, holdsFiles, readFolder } from "../store/data-folder";
import { type Database, query } from "../store/database";

/** Files per commit. */
const AT_ONCE = 50;

type Stores = { database: Database; blobs: BlobStore; folders: { userdata: string }; now: () => number; log: ServiceLog };
type Found = { userId: number; path: string; modified: number; staged: StagedFile };

export async function importUserFiles(stores: Stores): Promise<void> {
  const { database, folders, log } = stores;
  const users = new Set((await database.rows(query.selectFrom("users").select("id"))).map(({ id }) => id));
  let batch: Found[] = [];
  let imported = 0;
  for await (const file of filesBelow(folders.userdata)) {
    const [user = "", ...segments] = relative(folders.userdata, file).split(sep);
    if (!users.has(Number(user)) || segments.length === 0) continue;
    const { mtimeMs } = await stat(file);
    const path = segments.join("/").normalize("NFC");
    batch.push({ userId: Number(user), path, modified: Math.floor(mtimeMs), staged: await stageFile(file) });
    if (batch.length < AT_ONCE) continue;
    imported += await importSome(stores, batch);
    batch = [];
  }
  imported += await importSome(stores, batch);
  await removeEmpty(folders.userdata);
  if (imported > 0) log.info({ files: imported }, "files of users were taken into the database");
  if (await holdsFiles(folders.userdata))
    log.error({ folder: folders.userdata }, "files of users could not be taken into the database: they are not shown, and stay there");
}

/** Returns how many are in the database afterwards. */
async function importSome({ database, blobs, now }: Stores, files: readonly Found[]): Promise<number> {
  if (files.length === 0) return 0;
  const hashes = files.map(({ staged }) => staged.hash);
  const kept = await blobs.hold(hashes, async () => {
    for (const { staged } of files) await blobs.adopt(staged);
    return database.commit(async (tx) => {
      const there: Found[] = [];
      for (const file of files) {
        const { userId: user_id, path, modified, staged } = file;
        const { hash, size } = staged;
        const known = await tx.row(query.selectFrom("user_files").select("hash").where("user_id", "=", user_id).where("path", "=", path));
        if (!known) {
          await insertBlob(tx, staged, now());
          await tx.run(query.insertInto("user_files").values({ user_id, path, hash, size, modified }));
        }
        if (!known || known.hash === hash) there.push(file);
      }
      return there;
    });
  });
  for (const { staged } of kept) await unlink(staged.path);
  for (const hash of hashes) await blobs.drop(hash);
  return kept.length;
}

async function removeEmpty(folder: string): Promise<void> {
  for (const entry of await readFolder(folder)) if (entry.isDirectory()) await removeEmpty(join(folder, entry.name));
  await rmdir(folder).catch((error: unknown) => {
    if (!hasCode(error, "ENOTEMPTY", "EEXIST", "ENOENT")) throw error;
  });
}

function hasCode(error: unknown, ...codes: string[]): boolean {
  return codes.includes(String(codeOf(error)));
}
