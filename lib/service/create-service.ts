// Creates the service's components, starts them in order and stops them in reverse order.

import { existsSync } from "node:fs";
import { withTimeout } from "@/lib/shared/async";
import { ensureReserve, releaseReserve } from "@/lib/shared/database/disk-reserve";
import { isFullDisk } from "@/lib/shared/error-codes";
import { type Feed } from "@/lib/shared/http-types";
import { checkDisk, createNotReady, createReadiness } from "@/lib/shared/readiness";
import { getTelemetry } from "@/lib/shared/telemetry";
import { createAccessTimes } from "./assets/access-times";
import { removeDeadLeases } from "./assets/blobs/leases";
import { createBlobStoreMismatchError, openBlobs } from "./assets/blobs/open-blobs";
import { removeUnreferencedBlob } from "./assets/change-asset";
import { shipPublicAssets } from "./assets/create-asset";
import { createFolders, evictOldest, type Folders } from "./assets/folders";
import { type AssetSearch, createPostgresSearch } from "./assets/search/asset-search";
import { createSqliteSearch } from "./assets/search/sqlite-search";
import { createThumbnails } from "./assets/thumbnails";
import { createDownloads } from "./downloads/downloads";
import { type PruneDependencies, pruneTasks } from "./downloads/task-rows";
import { createJobEvents, createNoopPeerEvents, type NotifyListener, type PeerEvents } from "./events/job-events";
import { createPostgresPeerEvents, removeOldNotices } from "./events/postgres-peer-events";
import { type Chore, emptyFolder, startHousekeeping, sweep } from "./housekeeping";
import { jsonResponse } from "./http/route";
import { createRouter } from "./http/router";
import { applyRetention, finishClears, hasRetention, type RetentionDependencies } from "./jobs/history/ended-jobs";
import { countJobs } from "./jobs/list-jobs";
import { type CreateQueue } from "./jobs/queue/job-queue";
import { createMemoryQueue } from "./jobs/queue/memory-queue";
import { openSharedQueue, type SharedQueue } from "./jobs/queue/postgres-queue";
import { createEngine, RUNNERS_CHANNEL, subscribeToPeers } from "./jobs/run/engine";
import { createLiveRuns } from "./jobs/run/live-runs";
import { registerMetrics } from "./metrics";
import { nodeClasses } from "./nodes/library";
import { createRunner } from "./nodes/runner";
import { type ServiceLog, type ServiceOptions } from "./options";
import { createPool } from "./runners/pool";
import { createRunnerChores } from "./runners/runner-chores";
import { createRunners } from "./runners/store";
import { defaultSettings, type ServiceSettings } from "./settings";
import { createDataFolder, lockDataFolder, requireDatabase, requireNoFiles } from "./store/data-folder";
import { type Database, query, retry } from "./store/database";
import { openPostgres } from "./store/postgres/database";
import { createPostgresProcesses } from "./store/postgres/processes";
import { createSingleProcess, type Processes } from "./store/processes";
import { openDatabase } from "./store/sqlite";
import { claimDataFolder, requireRows } from "./store/store-location";
import { createKeys, findUserByKey } from "./users/keys";

/** Entries of about 350 bytes take 4 KiB each on disk: 128 MiB. */
const MAX_CACHE_BYTES = 11 * 1024 ** 2;

function createServiceChores(dependencies: RetentionDependencies & PruneDependencies & { folders: Folders }): Chore[] {
  const cacheSweep: Chore = { name: "cache", everyMs: 300_000, run: createNodeCacheSweep(dependencies.folders.nodeCache) };
  const retention: Chore = {
    name: "retention",
    everyMs: 60_000,
    isShared: true,
    run: (canContinue) => applyRetention(dependencies, canContinue),
  };
  const tasks: Chore = { name: "tasks", everyMs: 60_000, isShared: true, run: (canContinue) => pruneTasks(dependencies, canContinue) };
  return [cacheSweep, tasks, ...(hasRetention(dependencies.settings) ? [retention] : [])];
}

function createNodeCacheSweep(folder: string): Chore["run"] {
  let bytes: number | undefined;
  getTelemetry().metrics?.registerGauge("lightdesk_node_cache_bytes", () => bytes);
  return async () => void (bytes = await evictOldest(folder, MAX_CACHE_BYTES));
}

const POLL_MS = 1000;
const HOUR_MS = 3_600_000;
const DAY_MS = 86_400_000;
const JOB_GRACE_MS = 5000;
const REQUEST_GRACE_MS = 10_000;
const silentLog: ServiceLog = { info: () => undefined, warn: () => undefined, error: () => undefined };

export type StartedService = Awaited<ReturnType<typeof startService>>;

export async function startService(options: ServiceOptions) {
  const { now = Date.now, log = silentLog } = options;
  const settings = addDefaults(options);
  const { concurrency, maxJobPixels } = settings;
  if (!existsSync(options.workerPath)) log.error({ workerPath: options.workerPath }, "worker file missing");
  createDataFolder(options.dataDir);
  releaseReserve(options.dataDir);
  const lock = lockDataFolder(options.dataDir);
  let openedDatabase: OpenedDatabase | undefined;
  try {
    const folders = createFolders(options.dataDir);
    for (const folder of [folders.temp, folders.work]) await emptyFolder(folder);
    openedDatabase = await openServiceDatabase(settings.databaseUrl, { folders, settings, now, log });
    const { database, assetSearch, processes, createQueue } = openedDatabase;
    const usesSameStore = await processes.start({ slots: concurrency, hasSharedFiles: settings.blobs !== undefined });
    if (!usesSameStore) throw createBlobStoreMismatchError(settings.blobs);
    const blobs = await openBlobs({ settings, folders, database, processes, now, log });
    const thumbnails = createThumbnails(folders, settings);
    const accessTimes = createAccessTimes(database, now);
    const collect = (hash: string) => removeUnreferencedBlob({ database, blobs, thumbnails }, hash);
    const runner = createRunner(options);
    const events = createJobEvents((userId) => countJobs(database, userId, ["pending", "in_progress"]), openedDatabase.peerEvents, log);
    const pool = await createPool({ database, processes, concurrency });
    const { runnerLeaseMs: leaseMs, runnerUnresponsiveMs: unresponsiveMs } = settings;
    const remoteLimits = { leaseMs, unresponsiveMs, pollMs: POLL_MS, maxFileBytes: settings.maxUploadBytes };
    const dependencies = { database, processes, blobs, folders, events, pool, settings, now, log };
    const engine = createEngine({ ...dependencies, runner, remoteLimits, concurrency, maxJobPixels, collect }, createQueue);

    subscribeToPeers({ processes, engine, log });
    const notifyRunnersChanged = async () => {
      await engine.refreshRunners();
      await processes.notify(RUNNERS_CHANNEL, null);
    };

    await shipPublicAssets({ database, blobs, tempFolder: folders.temp, now, log }, options.shippedImagesDir);
    let isStopping = false;
    const startEngine = async () => {
      if (!isStopping) await engine.start();
    };
    // On a full disk, the service serves stored data but starts no jobs until space is freed.
    let recovery = Promise.resolve();
    await startEngine().catch((error: unknown) => {
      if (!isFullDisk(error)) throw error;
      log.error({ err: error }, "job recovery deferred: disk full");
      recovery = retry(startEngine, isFullDisk).catch((cause: unknown) => log.error({ err: cause }, "job recovery failed"));
    });
    const liveRuns = createLiveRuns({
      ...dependencies,
      getRuns: engine.getRuns,
      isShared: settings.databaseUrl !== undefined,
      hasSharedFiles: settings.blobs !== undefined,
    });
    const downloads = createDownloads(dependencies);
    await downloads.start();

    if (!ensureReserve(options.dataDir)) log.error({ dataDir: options.dataDir }, "service disk full: new data rejected");
    const { publicUrl } = options;
    const readiness = createReadiness({
      database: async () => void (await database.row(query.selectFrom("users").select("id").limit(1))),
      disk: () => checkDisk(options.dataDir),
      workers: () => (existsSync(options.workerPath) ? undefined : createNotReady("The job worker is not built.")),
    });
    const route = createRouter({
      ...dependencies,
      readiness,
      engine,
      liveRuns,
      thumbnails,
      accessTimes,
      assetSearch,
      downloads,
      publicUrl,
    });
    const abortController = new AbortController();
    const housekeeping = startHousekeeping(
      [
        ...createServiceChores({ database, settings, folders, now }),
        { name: "sweep", everyMs: DAY_MS, run: (canContinue) => sweep({ database, processes, blobs, thumbnails }, canContinue) },
        { name: "blob leases", everyMs: 60_000, isShared: true, run: () => removeDeadLeases({ database, processes, now }) },
        { name: "history clears", everyMs: 10_000, isShared: true, run: (canContinue) => finishClears(database, canContinue) },
        { name: "downloads", everyMs: 2000, run: downloads.reclaimTasks },
        { name: "partial downloads", everyMs: 60_000, run: downloads.sweep },
        ...openedDatabase.chores,
        { name: "job progress", everyMs: 60_000, isShared: true, run: liveRuns.sweep },
        ...createRunnerChores({
          ...dependencies,
          checkIntervalMs: settings.runnerCheckMs,
          handlePeerChange: engine.refreshRunners,
          notifyChange: notifyRunnersChanged,
          signal: abortController.signal,
        }),
        { name: "queue", everyMs: 60_000, isShared: true, run: engine.repair },
        { name: "job requirements", everyMs: HOUR_MS, run: pool.removeUnusedNeeds },
      ],
      processes,
      log,
    );
    const findUser = async (key: string) => (isStopping ? undefined : findUserByKey(database, key));
    const inFlight = new Set<Promise<Response>>();

    registerMetrics(database, options.dataDir);
    const builtIn = { slots: () => processes.countSlots(concurrency), classes: nodeClasses.size };

    return {
      keys: createKeys(database, now),
      runners: createRunners({ database, now, builtIn, notifyChange: notifyRunnersChanged }),

      readiness,

      async fetch(request: Request, bytes?: AsyncIterable<Uint8Array>): Promise<Response> {
        if (isStopping) return unavailableResponse("The service is stopping.");
        const response = route(request, bytes);
        inFlight.add(response);
        return response.finally(() => inFlight.delete(response));
      },

      findUserName: async (key: string) => (await findUser(key))?.name,

      async listen(key: string, clientId: string | undefined, notify: NotifyListener): Promise<Feed | undefined> {
        const user = await findUser(key);
        if (!user) return undefined;
        const stop = await events.listen(user.id, clientId, notify).catch((error: unknown) => {
          log.error({ err: error }, "queue status send failed");
          throw error;
        });
        return { stop, findDenialReason: async () => ((await findUser(key)) ? undefined : "The key is no longer valid.") };
      },

      async stop(): Promise<void> {
        isStopping = true;
        abortController.abort();
        events.stop();
        thumbnails.stop();
        await withTimeout(Promise.allSettled(inFlight), REQUEST_GRACE_MS, () => undefined);
        await Promise.all([engine.stop(JOB_GRACE_MS), downloads.stop(), housekeeping.stop()]);
        await Promise.all([liveRuns.stop(), recovery]);
        await accessTimes.flush();
        await openedDatabase?.close();
        lock.release();
      },
    };
  } catch (error) {
    await openedDatabase?.close();
    lock.release();
    throw error;
  }
}

function addDefaults(options: ServiceOptions): ServiceSettings {
  const definedOptions = Object.entries(options).filter(([, value]) => value !== undefined);
  return { ...defaultSettings, ...Object.fromEntries(definedOptions) };
}

export function unavailableResponse(message: string): Response {
  return jsonResponse({ code: "SERVICE_UNAVAILABLE", message }, 503);
}

// Opens the service's database. Rejects an empty database if the folder has users' files, because the sweep would remove them.

export type OpenedDatabase = {
  database: Database;
  assetSearch: AssetSearch;
  processes: Processes;
  createQueue: CreateQueue;
  close(): Promise<void>;
  peerEvents: PeerEvents;
  chores: readonly Chore[];
};
type OpenDatabaseOptions = { folders: Folders; settings: ServiceSettings; now: () => number; log: ServiceLog };

async function openServiceDatabase(
  databaseUrl: string | undefined,
  { folders, settings, now, log }: OpenDatabaseOptions,
): Promise<OpenedDatabase> {
  await requireRows(folders.root, databaseUrl, { isStart: true });
  if (databaseUrl === undefined) {
    requireDatabase(folders);
    const database = await openDatabase(folders.database, now, settings);
    const assetSearch = createSqliteSearch(database);
    const localDependencies = { processes: createSingleProcess(), peerEvents: createNoopPeerEvents() };
    return { database, assetSearch, ...localDependencies, createQueue: createMemoryQueue, chores: [], close: () => database.close() };
  }
  const database = await openPostgres(databaseUrl, now, settings);
  const processes = createPostgresProcesses(database, databaseUrl, log);
  let queue: SharedQueue | undefined;
  const close = async () => {
    await processes.close();
    await queue?.close();
    await database.close();
  };
  try {
    const isEmpty = (await database.row(query.selectFrom("blobs").select("hash").limit(1))) === undefined;
    if (isEmpty) requireNoFiles(folders.blobs, "The service's database references no files");
    await claimDataFolder(database, folders.root, settings.blobs !== undefined);
    queue = await openSharedQueue(databaseUrl, processes, log);
    const peerEvents = createPostgresPeerEvents(database, processes, log);
    const chores: Chore[] = [{ name: "long notices", everyMs: 60_000, isShared: true, run: () => removeOldNotices(database) }];
    const assetSearch = createPostgresSearch(database);
    return { database, assetSearch, processes, peerEvents, createQueue: queue.create, chores, close };
  } catch (error) {
    await close();
    throw error;
  }
}
