// Two services on one PostgreSQL share downloads. Either can show, cancel or take over a download.
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { copyBlobs } from "@/lib/service/index";
import { defaultSettings } from "@/lib/service/settings";
import { getContent, readTask, startDownload, waitForBytes, waitForOutcome } from "@/tests/integration/service/downloads-support";
import { asRecord } from "@/tests/integration/service/support";
import { parseSettings } from "@/tests/support/blob-backends";
import { createPattern, type FileSource } from "@/tests/support/file-source";
import { openTestDatabase } from "@/tests/support/postgres-proxy";
import { queryDatabase } from "@/tests/support/postgres-server";
import { startFileSource } from "@/tests/support/servers";
import { startService } from "@/tests/support/service";
import { createTemporaryFolder } from "@/tests/support/temporary-folder";
import { startTwoServices, type TwoServices } from "@/tests/support/two-services";
import { until } from "@/tests/support/until";

describe("downloads with two services", () => {
  const SIZE = 300_000;
  let source: FileSource;
  let services: TwoServices;
  beforeEach(async () => {
    source = await startFileSource(createPattern(SIZE), { etag: '"1"' });
    services = await startTwoServices({ downloadHosts: [source.url], downloadsAtOnce: 1 });
  });

  const listPartFiles = (service: TwoServices["first"]) => readdir(join(service.folder, "downloads"));
  const hasNoPartFiles = async () => (await listPartFiles(services.first)).length + (await listPartFiles(services.second)).length === 0;
  const listHolders = async () =>
    (await queryDatabase<{ holder: string }>(services.url, "SELECT holder FROM lightdesk_service.tasks WHERE status = 'running'")).map(
      ({ holder }) => holder,
    );

  const countUploads = async () =>
    (await queryDatabase(services.url, "SELECT 1 FROM lightdesk_service.assets WHERE origin = 'upload'")).length;
  /** Disconnects stalled responses. Later ones are complete. */
  function releaseSource(): void {
    source.behaviour.holdAfter = undefined;
    for (const response of source.pending) response.destroy();
  }

  it("fetches each download once and uses the other service when full", async () => {
    const { first, second } = await services.createClients();
    source.behaviour.holdAfter = 1000;
    const paths = [
      await startDownload(first, `${source.url}/a`),
      await startDownload(first, `${source.url}/b`),
      await startDownload(first, `${source.url}/c`),
    ];
    await until("two downloads run", async () => (await listHolders()).length === 2);
    expect(new Set(await listHolders()).size).toBe(2);
    const getStatuses = async (client: typeof first) =>
      (await Promise.all(paths.map((path) => readTask(client, path)))).map(({ status }) => status);
    expect(await getStatuses(second)).toEqual(["running", "running", "created"]);
    expect(await getStatuses(first)).toEqual(["running", "running", "created"]);
    releaseSource();
    for (const path of paths) expect(await waitForOutcome(second, path)).toMatchObject({ status: "completed", bytes_downloaded: SIZE });
    const requests = source.requests.map(({ url }) => url.slice(0, 2));
    expect(new Set(requests)).toEqual(new Set(["/a", "/b", "/c"]));
    expect(await countUploads()).toBe(1);
  });

  it("fetches a URL once when both services download it", async () => {
    const { first: firstClient, second: secondClient } = await services.createClients();
    source.behaviour.holdAfter = 1000;
    const paths = [await startDownload(firstClient, `${source.url}/same`), await startDownload(secondClient, `${source.url}/same`)];
    await until("one download has started", async () => {
      const tasks = await Promise.all(paths.map((path) => readTask(firstClient, path)));
      return tasks.some(({ bytes_downloaded: count }) => count === 1000);
    });
    expect((await Promise.all(paths.map((path) => readTask(firstClient, path)))).map(({ status }) => status).sort()).toEqual([
      "created",
      "running",
    ]);
    releaseSource();
    const [first, second] = [await waitForOutcome(firstClient, paths[0] ?? ""), await waitForOutcome(firstClient, paths[1] ?? "")];
    expect(asRecord(first.result).asset_id).toBe(asRecord(second.result).asset_id);
    expect(source.responses.filter(({ start }) => start === 0)).toHaveLength(1);
  });

  it("cancels a download from either service and leaves no file", async () => {
    const { first, second } = await services.createClients();
    source.behaviour.holdAfter = 1000;
    for (const client of [first, second]) {
      const path = await startDownload(first, `${source.url}/${client === first ? "one" : "two"}`);
      await waitForBytes(second, path, 1000);
      expect((await client.call("DELETE", path)).status).toBe(204);
      await until("no part file is left", hasNoPartFiles);
      for (const item of [first, second]) expect(await readTask(item, path)).toMatchObject({ status: "cancelled" });
      expect((await second.call("DELETE", path)).status).toBe(409);
    }
  });

  it("takes over a dead process's download and fetches it from the start", async () => {
    const { first, second } = await services.createClients();
    source.behaviour.holdAfter = 130_000;
    const path = await startDownload(second, `${source.url}/taken`);
    await waitForBytes(first, path, 130_000);
    const [part] = await listPartFiles(services.second);
    // Without the database the service keeps downloading, but its attempt is abandoned.
    services.databaseProxy.cut();
    await until("the first service has taken over", async () => (await listPartFiles(services.first)).length === 1, { timeoutMs: 20_000 });
    expect(await listPartFiles(services.first)).not.toContain(part);
    releaseSource();
    const task = await waitForOutcome(first, path);
    expect(task).toMatchObject({ status: "completed", bytes_downloaded: SIZE });
    expect((await getContent(first, task)).equals(source.behaviour.bytes)).toBe(true);
    services.databaseProxy.restore();
    await until("the second service's part file is deleted", async () => (await listPartFiles(services.second)).length === 0, {
      timeoutMs: 20_000,
    });
    expect(await countUploads()).toBe(1);
  });

  it("ignores writes of a replaced process", async () => {
    const { first } = await services.createClients();
    source.behaviour.holdAfter = 100_000;
    const path = await startDownload(first, `${source.url}/replaced`);
    await waitForBytes(first, path, 100_000);
    const processRow = "('another', now() + interval '1 hour', 0)";
    await queryDatabase(services.url, `INSERT INTO lightdesk_service.processes (id, seen_at, slots) VALUES ${processRow}`);
    await queryDatabase(services.url, "UPDATE lightdesk_service.tasks SET holder = 'another', bytes_downloaded = 5");
    releaseSource();
    await until("the part files are deleted", hasNoPartFiles);
    expect(await readTask(first, path)).toMatchObject({ status: "running", bytes_downloaded: 5 });
    expect(await queryDatabase(services.url, "SELECT holder FROM lightdesk_service.tasks")).toEqual([{ holder: "another" }]);
    expect(await countUploads()).toBe(0);
  });

  it("continues a stopping service's downloads on the other", async () => {
    const { first, second } = await services.createClients();
    source.behaviour.holdAfter = 1000;
    const path = await startDownload(second, `${source.url}/left`);
    await waitForBytes(first, path, 1000);
    source.behaviour.holdAfter = undefined;
    await services.second.service.stop();
    expect(await waitForOutcome(first, path)).toMatchObject({ status: "completed", bytes_downloaded: SIZE });
    await services.second.service.start();
    await until("the part file is deleted", async () => (await listPartFiles(services.second)).length === 0);
  });
});

describe("shared files", () => {
  let root: string;
  let databaseUrls: string[];
  beforeEach(async () => {
    root = createTemporaryFolder();
    databaseUrls = [await openTestDatabase(), await openTestDatabase()];
  });

  const startInFolder = (folder: string, { blobs, databaseIndex = 0 }: { blobs?: string; databaseIndex?: 0 | 1 } = {}) =>
    startService({
      dataDir: join(root, folder),
      databaseUrl: databaseUrls[databaseIndex],
      ...(blobs !== undefined && parseSettings({ LIGHTDESK_BLOBS: join(root, blobs) })),
    });

  it("rejects a store without the existing user files", async () => {
    const first = await startInFolder("first");
    const client = first.client();
    const expectedError = /LIGHTDESK_BLOBS names a store without this service.s files\. .* npm run copy-blobs -- --to STORE/;
    for (const storeFile of [() => client.upload("mine", "mine.txt"), () => client.call("POST", "/api/userdata/a.json", "{}")]) {
      const { body } = await storeFile();
      await first.service.stop();
      await expect(startInFolder("first", { blobs: "empty" })).rejects.toThrow(expectedError);
      await first.service.start();
      if (typeof body === "object" && body !== null && "id" in body) expect((await client.call("DELETE", `/api/assets/${String(body.id)}`)).status).toBe(204); // prettier-ignore
    }
    expect((await client.get("/api/userdata/a.json")).text).toBe("{}");
    await first.service.stop();
  });

  it("rejects a data folder or store of another database", async () => {
    const first = await startInFolder("first", { blobs: "blobs" });
    await first.service.stop();
    await expect(startInFolder("first", { blobs: "other", databaseIndex: 1 })).rejects.toThrow(
      /first belongs to another database than the one of DATABASE_URL/,
    );
    await expect(startInFolder("second", { blobs: "blobs", databaseIndex: 1 })).rejects.toThrow(
      /LIGHTDESK_BLOBS must be a location that only this service uses: it contains the files of another database/,
    );
  });

  it("rejects a service whose files are in a different store", async () => {
    const localService = await startInFolder("own");
    await expect(startInFolder("joining", { blobs: "blobs" })).rejects.toThrow(
      /stores its files in its own data folder\. .* start both with the same LIGHTDESK_BLOBS/,
    );
    // The running service continues, and the rejected one isn't counted.
    expect((await localService.client().upload("mine", "mine.txt")).status).toBe(201);
    await localService.service.stop();
    await localService.service.start();
    await localService.service.stop();

    const sharedService = await startInFolder("shared", { blobs: "another", databaseIndex: 1 });
    await expect(startInFolder("own", { databaseIndex: 1 })).rejects.toThrow(/belongs to another database/);
    const secondService = await startInFolder("same", { blobs: "another", databaseIndex: 1 });
    await secondService.service.stop();
    await expect(startInFolder("same", { databaseIndex: 1 })).rejects.toThrow(/Another service on the database .* uses LIGHTDESK_BLOBS/);
    await sharedService.service.stop();
  });

  it("rejects a start without LIGHTDESK_BLOBS until files are copied back", async () => {
    const joined = await startInFolder("joined", { blobs: "blobs" });
    await joined.client().call("POST", "/api/userdata/a.json", "{}");
    await joined.service.stop();
    await expect(startInFolder("joined")).rejects.toThrow(/The files of \S+joined are in \S+blobs\. Restore the earlier LIGHTDESK_BLOBS/);
    const settings = { ...defaultSettings, ...parseSettings({ LIGHTDESK_BLOBS: join(root, "blobs") }), databaseUrl: databaseUrls[0] };
    const log = { info: () => undefined, warn: () => undefined, error: () => undefined };
    const copyBack = () => copyBlobs({ dataDir: join(root, "joined"), settings, to: "data-folder", log });
    // Another running service may still add files to the shared store.
    const otherService = await startInFolder("other", { blobs: "blobs" });
    expect(await copyBack()).toMatchObject({ missing: [], damaged: [], nextStep: expect.stringContaining("Stop it, then run this again") });
    await otherService.service.stop();
    const copyResult = await copyBack();
    expect(copyResult).toMatchObject({ missing: [], damaged: [] });
    expect(copyResult.nextStep).toBeUndefined();
    const restoredService = await startInFolder("joined");
    expect((await restoredService.client().get("/api/userdata/a.json")).text).toBe("{}");
    await restoredService.service.stop();
  });
});
