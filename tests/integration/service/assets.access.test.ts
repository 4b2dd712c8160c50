// The last access time of an asset is written only now and then, but reported at once, even while it is being written.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createAccessTimes } from "@/lib/service/assets/access-times";
import { readAssets, type StoredAsset } from "@/lib/service/assets/asset-view";
import { type Database } from "@/lib/service/store/database";
import { openDatabase } from "@/lib/service/store/sqlite";
import { createKeys } from "@/lib/service/users/keys";
import { seedAssets } from "@/tests/bench/service/seed-assets";

describe("the time an asset was last read", () => {
  let folder: string;
  let database: Database;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "lightdesk-access-"));
    const file = join(folder, "service.sqlite");
    database = await openDatabase(file, Date.now);
    await createKeys(database, Date.now).createKey("ada");
    await database.close();
    seedAssets(file, "ada", 3);
    database = await openDatabase(file, Date.now);
  });
  afterAll(async () => {
    await database.close();
    await rm(folder, { recursive: true, force: true });
  });

  async function row(seq: number): Promise<StoredAsset> {
    const [asset] = await readAssets(database, [seq]);
    if (!asset) throw new Error(`there is no asset ${seq}`);
    return asset;
  }

  it("is known while it is being written", async () => {
    const times = createAccessTimes(database, () => 4e12);
    times.touch(await row(1));
    const before = await row(1);
    const writing = times.flush();
    expect(times.fresh(before).last_access_time).toBe(4e12);
    await writing;
    expect((await row(1)).last_access_time).toBe(4e12);
  });

  it("is known of a row that was read before it was written, and shown after", async () => {
    const times = createAccessTimes(database, () => 4.5e12);
    const before = await row(3);
    times.touch(before);
    await times.flush();
    expect(times.fresh(before).last_access_time).toBe(4.5e12);
  });

  it("is in the row for whoever waits for it, whoever began to write it", async () => {
    const times = createAccessTimes(database, () => 5e12);
    times.touch(await row(2));
    void times.flush();
    await times.flush();
    expect((await row(2)).last_access_time).toBe(5e12);
  });
});
