// Downloads of two services on one PostgreSQL: one fetches each, both show and cancel it, and a dead one is replaced.
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, inject, it } from "vitest";
import { copyBlobs } from "@/lib/service/index";
import { defaultSettings } from "@/lib/service/settings";
import { getContent, readTask, startDownload, waitForBytes, waitForOutcome } from "@/tests/integration/service/downloads-support";
import { asRecord } from "@/tests/integration/service/support";
import { parseSettings } from "@/tests/support/blob-backends";
import { createPattern, type FileSource } from "@/tests/support/file-source";
import { createDatabase, queryDatabase, type TestDatabase } from "@/tests/support/postgres-server";
import { startFileSource } from "@/tests/support/servers";
import { startService } from "@/tests/support/service";
import { temporaryFolder } from "@/tests/support/temporary-folder";
import { startTwoServices, type TwoServices } from "@/tests/support/two-services";
import { until } from "@/tests/support/until";

describe("two services downloads", () => {
  const SIZE = 300_000;
  let source: FileSource;
  let two: TwoServices;
  beforeEach(async () => {
    source = await startFileSource(createPattern(SIZE), { etag: '"1"' });
    two = await startTwoServices({ downloadHosts: [source.url], downloadsAtOnce: 1 });
  });

  const listParts = (service: TwoServices["first"]) => readdir(join(service.folder, "downloads"));
  const holders = async () =>
    (await queryDatabase<{ holder: string }>(two.url, "SELECT holder FROM lightdesk_service.tasks WHERE status = 'running'")).map(
      ({ holder }) => holder,
    );

  it("leaves downloads to the other service when full and fetches each once", async () => {
    const { first, second } = await two.clients();
    source.behaviour.holdAfter = 1000;
    const paths = [
      await startDownload(first, `${source.url}/a`),
      await startDownload(first, `${source.url}/b`),
      await startDownload(first, `${source.url}/c`),
    ];
    await until("two run", async () => (await holders()).length === 2);
    expect(new Set(await holders()).size).toBe(2);
    const states = async (client: typeof first) =>
      (await Promise.all(paths.map((path) => readTask(client, path)))).map(({ status }) => status);
    expect(await states(second)).toEqual(["running", "running", "created"]);
    expect(await states(first)).toEqual(["running", "running", "created"]);
    source.behaviour.holdAfter = undefined;
    for (const response of source.pending) response.destroy();
    for (const path of paths) expect(await waitForOutcome(second, path)).toMatchObject({ status: "completed", bytes_downloaded: SIZE });
    const requests = source.requests.map(({ url }) => url.slice(0, 2));
    expect(new Set(requests)).toEqual(new Set(["/a", "/b", "/c"]));
    expect(await queryDatabase(two.url, "SELECT count(*)::integer AS n FROM lightdesk_service.assets WHERE origin = 'upload'")).toEqual([
      { n: 1 },
    ]);
  });

  it("downloads one address once across both services", async () => {
    const { first: here, second: there } = await two.clients();
    source.behaviour.holdAfter = 1000;
    const paths = [await startDownload(here, `${source.url}/same`), await startDownload(there, `${source.url}/same`)];
    await until("a part of one has come", async () => {
      const tasks = await Promise.all(paths.map((path) => readTask(here, path)));
      return tasks.some(({ bytes_downloaded: count }) => count === 1000);
    });
    expect((await Promise.all(paths.map((path) => readTask(here, path)))).map(({ status }) => status).sort()).toEqual([
      "created",
      "running",
    ]);
    source.behaviour.holdAfter = undefined;
    for (const response of source.pending) response.destroy();
    const [first, second] = [await waitForOutcome(here, paths[0] ?? ""), await waitForOutcome(here, paths[1] ?? "")];
    expect(asRecord(first.result).asset_id).toBe(asRecord(second.result).asset_id);
    expect(source.responses.filter(({ start }) => start === 0)).toHaveLength(1);
  });

  it("cancels a download from either service and leaves no file", async () => {
    const { first, second } = await two.clients();
    source.behaviour.holdAfter = 1000;
    for (const client of [first, second]) {
      const path = await startDownload(first, `${source.url}/${client === first ? "one" : "two"}`);
      await waitForBytes(second, path, 1000);
      expect((await client.call("DELETE", path)).status).toBe(204);
      await until("no part is left", async () => (await listParts(two.first)).length + (await listParts(two.second)).length === 0);
      for (const item of [first, second]) expect(await readTask(item, path)).toMatchObject({ status: "cancelled" });
      expect((await second.call("DELETE", path)).status).toBe(409);
    }
  });

  it("takes over a dead process's download without trusting its data", async () => {
    const { first, second } = await two.clients();
    source.behaviour.holdAfter = 130_000;
    const path = await startDownload(second, `${source.url}/taken`);
    await waitForBytes(first, path, 130_000);
    const [part] = await listParts(two.second);
    // Without the database it continues downloading, but is abandoned anyway.
    two.wire.cut();
    await until("the other one has it", async () => (await listParts(two.first)).length === 1, { timeoutMs: 20_000 });
    expect(await listParts(two.first)).not.toContain(part);
    source.behaviour.holdAfter = undefined;
    for (const response of source.pending) response.destroy();
    const task = await waitForOutcome(first, path);
    expect(task).toMatchObject({ status: "completed", bytes_downloaded: SIZE });
    expect((await getContent(first, task)).equals(source.behaviour.bytes)).toBe(true);
    two.wire.mend();
    await until("the part of the first one is gone", async () => (await listParts(two.second)).length === 0, { timeoutMs: 20_000 });
    expect(await queryDatabase(two.url, "SELECT count(*)::integer AS n FROM lightdesk_service.assets WHERE origin = 'upload'")).toEqual([
      { n: 1 },
    ]);
  });

  it("blocks writes of a replaced worker", async () => {
    const { first } = await two.clients();
    source.behaviour.holdAfter = 100_000;
    const path = await startDownload(first, `${source.url}/given-up`);
    await waitForBytes(first, path, 100_000);
    const another = "('another', now() + interval '1 hour', 0)";
    await queryDatabase(two.url, `INSERT INTO lightdesk_service.processes (id, seen_at, slots) VALUES ${another}`);
    await queryDatabase(two.url, "UPDATE lightdesk_service.tasks SET holder = 'another', bytes_downloaded = 5");
    source.behaviour.holdAfter = undefined;
    for (const response of source.pending) response.destroy();
    await until("its part is gone", async () => (await listParts(two.first)).length === 0 && (await listParts(two.second)).length === 0);
    expect(await readTask(first, path)).toMatchObject({ status: "running", bytes_downloaded: 5 });
    expect(await queryDatabase(two.url, "SELECT holder FROM lightdesk_service.tasks")).toEqual([{ holder: "another" }]);
    expect(await queryDatabase(two.url, "SELECT 1 FROM lightdesk_service.assets WHERE origin = 'upload'")).toEqual([]);
  });

  it("continues a stopping service's downloads at the other", async () => {
    const { first, second } = await two.clients();
    source.behaviour.holdAfter = 1000;
    const path = await startDownload(second, `${source.url}/left`);
    await waitForBytes(first, path, 1000);
    source.behaviour.holdAfter = undefined;
    await two.second.service.stop();
    expect(await waitForOutcome(first, path)).toMatchObject({ status: "completed", bytes_downloaded: SIZE });
    await two.second.service.start();
    await until("its part is swept", async () => (await listParts(two.second)).length === 0);
  });
});

describe("shared files", () => {
  let root: string;
  let databases: TestDatabase[];
  beforeEach(async () => {
    root = temporaryFolder();
    databases = await Promise.all([1, 2].map(() => createDatabase(inject("postgres"))));
  });
  afterEach(async () => {
    for (const database of databases) await database.drop();
  });

  /** `at`: the database, the first or the second. */
  const start = (folder: string, { blobs, at = 0 }: { blobs?: string; at?: 0 | 1 } = {}) =>
    startService({
      dataDir: join(root, folder),
      databaseUrl: databases[at]?.url,
      ...(blobs !== undefined && parseSettings({ LIGHTDESK_BLOBS: join(root, blobs) })),
    });

  it("refuses an uncopied store while users have files", async () => {
    const first = await start("first");
    const client = first.client();
    const empty = /LIGHTDESK_BLOBS names a store without this service.s files\. .* npm run copy-blobs -- --to STORE/;
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

  it("refuses a data folder or store of another database", async () => {
    const first = await start("first", { blobs: "place" });
    await first.service.stop();
    await expect(start("first", { blobs: "other", at: 1 })).rejects.toThrow(
      /first belongs to another database than the one of DATABASE_URL/,
    );
    await expect(start("second", { blobs: "place", at: 1 })).rejects.toThrow(
      /LIGHTDESK_BLOBS must be a folder that only this service uses: it holds the files of another database/,
    );
  });

  it("refuses a service whose files are in a different store", async () => {
    const ownBench = await start("own");
    await expect(start("joining", { blobs: "place" })).rejects.toThrow(
      /stores its files in its own data folder\. .* start both with the same LIGHTDESK_BLOBS/,
    );
    // The running service continues, and the refused one is not counted.
    expect((await ownBench.client().upload("mine", "mine.txt")).status).toBe(201);
    await ownBench.service.stop();
    await ownBench.service.start();
    await ownBench.service.stop();

    const sharing = await start("shared", { blobs: "another", at: 1 });
    await expect(start("own", { at: 1 })).rejects.toThrow(/belongs to another database/);
    const same = await start("same", { blobs: "another", at: 1 });
    await same.service.stop();
    await expect(start("same", { at: 1 })).rejects.toThrow(/Another service on the database .* uses LIGHTDESK_BLOBS/);
    await sharing.service.stop();
  });

  it("refuses a joined folder without LIGHTDESK_BLOBS until files are copied back", async () => {
    const joined = await start("joined", { blobs: "place" });
    await joined.client().call("POST", "/api/userdata/a.json", "{}");
    await joined.service.stop();
    await expect(start("joined")).rejects.toThrow(/The files of \S+joined are in \S+place\. Restore the earlier LIGHTDESK_BLOBS/);
    const settings = { ...defaultSettings, ...parseSettings({ LIGHTDESK_BLOBS: join(root, "place") }), databaseUrl: databases[0]?.url };
    const log = { info: () => undefined, warn: () => undefined, error: () => undefined };
    const copyBack = () => copyBlobs({ dataDir: join(root, "joined"), settings, to: "data-folder", log });
    // While another one runs, more may be stored where the files were.
    const otherBench = await start("other", { blobs: "place" });
    expect(await copyBack()).toMatchObject({ missing: [], damaged: [], todo: expect.stringContaining("Stop it, then run this again") });
    await otherBench.service.stop();
    const copied = await copyBack();
    expect(copied).toMatchObject({ missing: [], damaged: [] });
    expect(copied.todo).toBeUndefined();
    const back = await start("joined");
    expect((await back.client().get("/api/userdata/a.json")).text).toBe("{}");
    await back.service.stop();
  });
});
