// At a start, the service removes blobs that nothing names, in many small commits.
import { mkdir, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { createBlobStore, createOwnHolds } from "@/lib/service/assets/blob-store";
import { createFolderPlace } from "@/lib/service/assets/blobs/folder-place";
import { insertAsset } from "@/lib/service/assets/create-asset";
import { sweep } from "@/lib/service/housekeeping";
import { type Database, query } from "@/lib/service/store/database";
import { createOnlyProcess } from "@/lib/service/store/processes";
import { createKeys } from "@/lib/service/users/keys";
import { makeServicePlace, type ServicePlace } from "@/tests/support/service-store";

const BLOBS = 1100;
const nothing = { sweep: () => Promise.resolve(0), sweepCache: () => Promise.resolve(0) };

let place: ServicePlace;
let database: Database;
beforeEach(async () => {
  place = await makeServicePlace();
  database = await place.open();
  await createKeys(database, Date.now).createKey("ada");
  await database.commit(async (tx) => {
    for (let at = 0; at < BLOBS; at += 1) {
      const hash = ((at * 2_654_435_761) % 2 ** 32).toString(16).padStart(64, "0");
      await tx.run(query.insertInto("blobs").values({ hash, sha256: hash, size: 1, media_type: "image/png", created_at: 1 }));
      const named = { origin: "upload", name: "x", tags: [], metadata: {} } as const;
      if (at % 3 === 0) await insertAsset(tx, { ...named, id: crypto.randomUUID(), ownerId: 1, content: { hash, size: 1 } }, 1);
    }
  });
});
afterEach(async () => {
  await database.close();
  await place.remove();
});

const hashes = async () => (await database.rows(query.selectFrom("blobs").select("hash").orderBy("hash"))).map(({ hash }) => hash);
const named = async () => (await database.rows(query.selectFrom("assets").select("hash").orderBy("hash"))).map(({ hash }) => hash);

it("leaves every blob that an asset names, and no other", async () => {
  await sweep({ database, processes: createOnlyProcess(), blobs: nothing, thumbnails: nothing }, () => true);
  expect(await hashes()).toEqual(await named());
  expect(await hashes()).toHaveLength(Math.ceil(BLOBS / 3));
});

it("ends early when the service stops", async () => {
  let asked = 0;
  await sweep({ database, processes: createOnlyProcess(), blobs: nothing, thumbnails: nothing }, () => (asked += 1) <= 2);
  expect((await hashes()).length).toBeLessThan(BLOBS);
  expect((await hashes()).length).toBeGreaterThan(Math.ceil(BLOBS / 3));
});

it("leaves the files that are left to the next start when the service stops", async () => {
  const shard = join(place.folder, "files", "ab");
  await mkdir(shard, { recursive: true });
  for (let at = 0; at < 5; at += 1) await writeFile(join(shard, String(at).padStart(62, "0")), "nobody's");
  const none = () => Promise.resolve(new Set<string>());
  const blobs = createBlobStore(createFolderPlace(join(place.folder, "files")), createOwnHolds(none), none);
  let asked = 0;
  expect(await blobs.sweep(() => (asked += 1) <= 2)).toBe(2);
  expect(await readdir(shard)).toHaveLength(3);
  expect(await blobs.sweep(() => true)).toBe(3);
});
