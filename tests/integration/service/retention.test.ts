// The history is limited by age and number in the background. Only ended jobs are removed.
import { mkdir, readdir, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, afterEach, beforeEach, describe, expect, it } from "vitest";
import { createBlobStore, createLocalHolds } from "@/lib/service/assets/blob-store";
import { createFolderBackend } from "@/lib/service/assets/blobs/folder-backend";
import { insertAsset } from "@/lib/service/assets/create-asset";
import { evictOldest, sweepCacheFolder } from "@/lib/service/assets/folders";
import { startHousekeeping, sweep } from "@/lib/service/housekeeping";
import { applyRetention } from "@/lib/service/jobs/history/ended-jobs";
import { type Database, query } from "@/lib/service/store/database";
import { openPostgres } from "@/lib/service/store/postgres/database";
import { createSingleProcess } from "@/lib/service/store/processes";
import { openDatabase } from "@/lib/service/store/sqlite";
import { getDatabasePath } from "@/lib/service/store/store-location";
import { createKeys } from "@/lib/service/users/keys";
import { createPattern } from "@/tests/support/file-source";
import { startFileSource } from "@/tests/support/servers";
import { type Client, startService } from "@/tests/support/service";
import { createTestServiceStore, type TestServiceStore } from "@/tests/support/service-store";
import { createTemporaryFolder } from "@/tests/support/temporary-folder";
import { until } from "@/tests/support/until";
import { download, readTask, startDownload } from "./downloads-support";
import {
  asRecord,
  asRecords,
  asString,
  createColorGraph,
  createGate,
  createWaitGraph,
  getRecord,
  listAssets,
  listJobs,
  readJob,
  runGraph,
  submitGraph,
  waitForStart,
} from "./support";

const DAY_MS = 86_400_000;

describe("retention", () => {
  const getIds = async (client: Client) => (await listJobs(client)).map((job) => asString(job.id));
  const getHistory = async (client: Client) =>
    asRecords((await getRecord(client, "/api/history_v2?max_items=1000")).history).map((entry) => asString(entry.prompt_id));
  const runJob = async (client: Client, color: number) => runGraph(client, createColorGraph(color));

  it("is off by default, and removes ended jobs above the age but no assets", async () => {
    let now = Date.now();
    let service = await startService({ now: () => now, concurrency: 1 });
    const restart = async (retentionDays?: number) => {
      await service.service.stop();
      service = await startService({ dataDir: service.folder, now: () => now, retentionDays, concurrency: 1 });
    };
    const oldJob = await runJob(service.client(), 2);
    const oldId = asString(oldJob.id);
    now += 10_000 * DAY_MS;
    await restart();
    expect(await getIds(service.client())).toEqual([oldId]);
    const recentId = asString((await runJob(service.client(), 3)).id);
    now += 3 * DAY_MS;
    await restart(5);
    const client = service.client();
    await until("the old job is removed", async () => (await getIds(client)).length === 1);
    expect([await getIds(client), await getHistory(client)]).toEqual([[recentId], [recentId]]);
    expect((await client.get(`/api/jobs/${oldId}`)).status).toBe(404);
    const file = asString(asRecord(oldJob.preview_output).filename);
    expect((await client.get(`/api/view?filename=${file}`)).status).toBe(200);
    expect((await listAssets(client)).map((asset) => asset.prompt_id)).toContain(oldId);
  });

  it("keeps the newest ended jobs per user and ignores active ones", async () => {
    const service = await startService({ concurrency: 1 });
    const [ada, bob] = [service.client("ada"), service.client("bob")];
    const otherId = asString((await runJob(bob, 1)).id);
    const doneIds: string[] = [];
    for (let color = 1; color <= 4; color += 1) doneIds.push(asString((await runJob(ada, color)).id));
    const runningId = await submitGraph(ada, createWaitGraph(3600));
    await waitForStart(ada, runningId);
    const pendingIds = [5, 6, 7].map((color) => submitGraph(ada, createColorGraph(color)));
    const { databaseUrl } = service.settings;
    const database = await (databaseUrl === undefined ? openDatabase(getDatabasePath(service.folder), Date.now) : openPostgres(databaseUrl, Date.now)); // prettier-ignore
    const runRetention = (commitWithReserve = database.commitWithReserve) =>
      applyRetention(
        { database: { ...database, commitWithReserve }, settings: { retentionDays: 1, retentionJobs: 2 }, now: Date.now },
        () => true,
      );
    expect(await runRetention()).toBe(2);
    expect(await runRetention(() => Promise.reject(new Error("unexpected commit")))).toBe(0);
    await database.close();
    expect((await getHistory(ada)).sort()).toEqual(doneIds.slice(-2).sort());
    expect((await getIds(ada)).sort()).toEqual([...doneIds.slice(-2), runningId, ...(await Promise.all(pendingIds))].sort());
    expect((await readJob(ada, runningId)).status).toBe("in_progress");
    expect(await getIds(bob)).toEqual([otherId]);
    await ada.post("/api/interrupt");
    await ada.post("/api/queue", { clear: true });
  });
});

describe("housekeeping", () => {
  it("retries after a failure, logs it and waits for the current run", async () => {
    const logged: string[] = [];
    const log = { info: () => undefined, warn: () => undefined, error: (_: unknown, message: string) => void logged.push(message) };
    let runCount = 0;
    const { open, opened } = createGate();
    const run = async (canContinue: () => boolean) => {
      runCount += 1;
      if (runCount === 1) throw new Error("first run fails");
      await opened;
      logged.push(String(canContinue()));
    };
    const housekeeping = startHousekeeping([{ name: "test", everyMs: 1, run }], createSingleProcess(), log);
    await until("the second run", () => runCount === 2);
    const stopPromise = housekeeping.stop();
    open();
    await stopPromise;
    expect(logged).toEqual(["housekeeping failed", "false"]);
    expect(runCount).toBe(2);
  });

  it("deletes the least recently used results above the limit", async () => {
    const folder = createTemporaryFolder();
    await mkdir(join(folder, "1", "aa"), { recursive: true });
    for (let age = 0; age < 10; age += 1) {
      const path = join(folder, "1", "aa", `${age}.json`);
      await writeFile(path, "{}");
      await utimes(path, 1000 - age, 1000 - age);
    }
    expect(await evictOldest(folder, 20)).toBe(20);
    expect(await evictOldest(folder, 10)).toBe(8);
    expect((await readdir(join(folder, "1", "aa"))).sort()).toEqual(["0.json", "1.json", "2.json", "3.json"]);
  });
});

describe("sweep", () => {
  const BLOB_COUNT = 500;
  const emptySweeper = { sweep: () => Promise.resolve(0), sweepCache: () => Promise.resolve(0) };

  let testStore: TestServiceStore;
  let database: Database;
  beforeEach(async () => {
    testStore = await createTestServiceStore();
    database = await testStore.open();
    await createKeys(database, Date.now).createKey("ada");
    await database.commit(async (tx) => {
      for (let index = 0; index < BLOB_COUNT; index += 1) {
        const hash = ((index * 2_654_435_761) % 2 ** 32).toString(16).padStart(64, "0");
        await tx.run(query.insertInto("blobs").values({ hash, sha256: hash, size: 1, media_type: "image/png", created_at: 1 }));
        const assetFields = { origin: "upload", name: "x", tags: [], metadata: {} } as const;
        if (index % 3 === 0) await insertAsset(tx, { ...assetFields, id: crypto.randomUUID(), ownerId: 1, content: { hash, size: 1 } }, 1);
      }
    });
  });
  afterEach(() => database.close());

  const listBlobHashes = async () =>
    (await database.rows(query.selectFrom("blobs").select("hash").orderBy("hash"))).map(({ hash }) => hash);
  const listReferencedHashes = async () =>
    (await database.rows(query.selectFrom("assets").select("hash").orderBy("hash"))).map(({ hash }) => hash);

  const sweepBlobs = (canContinue: () => boolean) =>
    sweep({ database, processes: createSingleProcess(), blobs: emptySweeper, thumbnails: emptySweeper }, canContinue);

  it("keeps every referenced blob and deletes the rest", async () => {
    await sweepBlobs(() => true);
    expect(await listBlobHashes()).toEqual(await listReferencedHashes());
    expect(await listBlobHashes()).toHaveLength(Math.ceil(BLOB_COUNT / 3));
  });

  it("ends early when the service stops", async () => {
    let checkCount = 0;
    await sweepBlobs(() => (checkCount += 1) <= 2);
    expect((await listBlobHashes()).length).toBeLessThan(BLOB_COUNT);
    expect((await listBlobHashes()).length).toBeGreaterThan(Math.ceil(BLOB_COUNT / 3));
  });

  it("skips stray files and defers the rest to the next start when stopping", async () => {
    const folder = join(testStore.folder, "files");
    const shard = join(folder, "ab");
    await mkdir(shard, { recursive: true });
    await writeFile(join(folder, ".DS_Store"), "");
    for (let index = 0; index < 5; index += 1) await writeFile(join(shard, String(index).padStart(62, "0")), "orphan");
    const findNone = () => Promise.resolve(new Set<string>());
    const blobs = createBlobStore(createFolderBackend(folder), createLocalHolds(findNone), findNone);
    let checkCount = 0;
    expect(await blobs.sweep(() => (checkCount += 1) <= 2)).toBe(2);
    expect(await readdir(shard)).toHaveLength(3);
    expect(await sweepCacheFolder(folder, findNone, () => Promise.resolve())).toBe(3);
    expect(await blobs.sweep(() => true)).toBe(3);
  });
});

describe("download task retention", async () => {
  let clockOffsetMs = 0;
  const source = await startFileSource(createPattern(5000));
  const settings = { downloadHosts: [source.url], downloadsAtOnce: 1, retentionTasks: 3, retentionTaskDays: 30 };
  const service = await startService({ ...settings, now: () => Date.now() + clockOffsetMs });
  const client = service.client();
  afterAll(async () => {
    expect(service.loggedErrors).toEqual([]);
    await service.dispose();
    await source.close();
  });

  /** Downloads new bytes from a new URL and returns the path of the task. */
  async function downloadTask(name: string): Promise<string> {
    source.behaviour.bytes = createPattern(5000, name.length * 7 + name.charCodeAt(0));
    return `/api/tasks/${asString((await download(client, `${source.url}/${name}`)).id)}`;
  }
  const getStatuses = (paths: readonly string[]) => Promise.all(paths.map(async (path) => (await client.get(path)).status));

  it("keeps the newest ended tasks, all active ones and every asset", async () => {
    const otherClient = service.client("eve");
    const otherTaskPath = `/api/tasks/${asString((await download(otherClient, `${source.url}/other`)).id)}`;
    const paths: string[] = [];
    for (const name of ["a", "b", "c", "d", "e"]) paths.push(await downloadTask(name));
    const first = asRecord((await readTask(client, asString(paths[0]))).result);
    source.behaviour.holdAfter = 1000;
    const [runningPath, waitingPath] = [
      await startDownload(client, `${source.url}/running`),
      await startDownload(client, `${source.url}/waiting`),
    ];
    await until("the download runs", async () => (await readTask(client, runningPath)).status === "running");
    await service.service.stop();
    await service.service.start();
    await until("the oldest tasks are deleted", async () => (await client.get(asString(paths[1]))).status === 404);
    expect(await getStatuses(paths)).toEqual([404, 404, 200, 200, 200]);
    expect(await getStatuses([runningPath, waitingPath])).toEqual([200, 200]);
    expect((await otherClient.get(otherTaskPath)).status).toBe(200);
    expect((await client.get(`/api/assets/${asString(first.asset_id)}`)).status).toBe(200);
    for (const path of [waitingPath, runningPath]) expect((await client.call("DELETE", path)).status).toBe(204);
    source.behaviour.holdAfter = undefined;
  });

  it("removes old tasks by age and keeps their files", async () => {
    const path = await downloadTask("old");
    clockOffsetMs = 29 * DAY_MS;
    await service.service.stop();
    await service.service.start();
    const youngPath = await downloadTask("young");
    clockOffsetMs = 31 * DAY_MS;
    await service.service.stop();
    await service.service.start();
    await until("the old task is deleted", async () => (await client.get(path)).status === 404);
    expect((await client.get(youngPath)).status).toBe(200);
    source.responses.length = 0;
    const secondResponse = await client.post("/api/assets/download", { source_url: `${source.url}/old` });
    expect(secondResponse).toMatchObject({ status: 200, body: { created_new: false } });
    expect(source.responses).toEqual([]);
    const id = asString(asRecord(secondResponse.body).id);
    await client.call("DELETE", `/api/assets/${id}`);
    expect((await client.post("/api/assets/download", { source_url: `${source.url}/old` })).status).toBe(202);
  });
});
