// A place of bytes belongs to one database, and all services on it must use the same: anything else is refused at the start, with a reason.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, inject, it } from "vitest";
import { copyBlobs } from "@/lib/service/index";
import { defaultSettings } from "@/lib/service/settings";
import { settingsOf } from "@/tests/support/blob-places";
import { createDatabase, type OwnDatabase } from "@/tests/support/postgres-server";
import { startService } from "@/tests/support/service";

let root: string;
let databases: OwnDatabase[];
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), "lightdesk-one-place-"));
  databases = await Promise.all([1, 2].map(() => createDatabase(inject("postgres"))));
});
afterEach(async () => {
  for (const database of databases) await database.drop();
  await rm(root, { recursive: true, force: true });
});

/** `at`: the database, the first or the second. */
const start = (folder: string, { blobs, at = 0 }: { blobs?: string; at?: 0 | 1 } = {}) =>
  startService({
    dataDir: join(root, folder),
    databaseUrl: databases[at]?.url,
    ...(blobs !== undefined && settingsOf({ LIGHTDESK_BLOBS: join(root, blobs) })),
  });

it("refuses a place to which no file was copied, as long as there are files of users", async () => {
  const first = await start("first");
  const client = first.client();
  const empty = /LIGHTDESK_BLOBS must be where the files are, and none was brought to this place\. .* npm run copy-blobs -- --to PLACE/;
  for (const keep of [() => client.upload("mine", "mine.txt"), () => client.call("POST", "/api/userdata/a.json", "{}")]) {
    const { body } = await keep();
    await first.service.stop();
    await expect(start("first", { blobs: "empty" })).rejects.toThrow(empty);
    await first.service.start();
    if (typeof body === "object" && body !== null && "id" in body) expect((await client.call("DELETE", `/api/assets/${String(body.id)}`)).status).toBe(204); // prettier-ignore
  }
  expect((await client.get("/api/userdata/a.json")).text).toBe("{}");
  await first.service.stop();
});

it("refuses a data folder, and a place, of another database", async () => {
  const first = await start("first", { blobs: "place" });
  await first.service.stop();
  await expect(start("first", { blobs: "other", at: 1 })).rejects.toThrow(/first belongs to another database than the one of DATABASE_URL/);
  await expect(start("second", { blobs: "place", at: 1 })).rejects.toThrow(
    /LIGHTDESK_BLOBS must be this service's own place: it holds the files of another database/,
  );
});

it("refuses one whose files lie elsewhere than those of another that runs on the database, whichever came first", async () => {
  const own = await start("own");
  await expect(start("joining", { blobs: "place" })).rejects.toThrow(
    /keeps its files in its own data folder, .* start both with the same LIGHTDESK_BLOBS/,
  );
  // The running service goes on, and the refused one is not counted.
  expect((await own.client().upload("mine", "mine.txt")).status).toBe(201);
  await own.service.stop();
  await own.service.start();
  await own.service.stop();

  const sharing = await start("shared", { blobs: "another", at: 1 });
  await expect(start("own", { at: 1 })).rejects.toThrow(/belongs to another database/);
  const same = await start("same", { blobs: "another", at: 1 });
  await same.service.stop();
  await expect(start("same", { at: 1 })).rejects.toThrow(/keeps its files where its LIGHTDESK_BLOBS says/);
  await sharing.service.stop();
});

it("refuses a folder that joined with LIGHTDESK_BLOBS and starts without it, until its files were copied back", async () => {
  const joined = await start("joined", { blobs: "place" });
  await joined.client().call("POST", "/api/userdata/a.json", "{}");
  await joined.service.stop();
  await expect(start("joined")).rejects.toThrow(/The files of \S+joined lie in \S+place\. Set LIGHTDESK_BLOBS as it was/);
  const settings = { ...defaultSettings, ...settingsOf({ LIGHTDESK_BLOBS: join(root, "place") }), databaseUrl: databases[0]?.url };
  const log = { info: () => undefined, warn: () => undefined, error: () => undefined };
  const bringBack = () => copyBlobs({ dataDir: join(root, "joined"), settings, to: "data-folder", log });
  // While another one runs, more may be stored where the files were.
  const other = await start("other", { blobs: "place" });
  expect(await bringBack()).toMatchObject({ missing: [], damaged: [], todo: expect.stringContaining("Stop it, then run this again") });
  await other.service.stop();
  const copied = await bringBack();
  expect(copied).toMatchObject({ missing: [], damaged: [] });
  expect(copied.todo).toBeUndefined();
  const back = await start("joined");
  expect((await back.client().get("/api/userdata/a.json")).text).toBe("{}");
  await back.service.stop();
});
