// Entry point of the embedded service: a plain Node library behind a fetch function. Import nothing else from this folder.

import { type ServiceRunners } from "@/lib/contract/runners/runners";
import { createNotReady } from "@/lib/shared/readiness";
import { type StartedService, startService, unavailableResponse } from "./create-service";
import { nodeClasses } from "./nodes/library";
import { type Service, type ServiceKeys, type ServiceOptions } from "./options";
import { createRunners } from "./runners/store";
import { toStartFailure } from "./service-error";
import { type ServiceSettings } from "./settings";
import { createDataFolder } from "./store/data-folder";
import { openPostgres } from "./store/postgres/database";
import { countLiveSlots } from "./store/postgres/processes";
import { openDatabase } from "./store/sqlite";
import { getDatabasePath, requireRows } from "./store/store-location";
import { createKeys } from "./users/keys";

export { tryBlobBackend } from "./assets/blobs/open-blobs";
export { copyBlobs } from "./copy-blobs";
export { copyServiceStore, requireRoomForService } from "./store/copy-store";
export { containsService as holdsService, isServiceOf, requireRows as requireServiceRows } from "./store/store-location";
export type { Service, ServiceKeys, ServiceOptions } from "./options";
export { backUpService } from "./backup/back-up";
export { checkServiceBackup, restoreService, sweepServiceBackup } from "./backup/restore";
export { postgresHistory as servicePostgresHistory, sqliteHistory as serviceHistory } from "./store/baseline";
export { SERVICE_SCHEMA as serviceDatabaseSchema } from "./store/baseline";
export { serviceContentsSchema, storedFileSchema } from "./backup/restore";

export function createService(options: ServiceOptions): Service {
  let started: StartedService | undefined;

  function getStarted(): StartedService {
    if (!started) throw new Error("The service is not running.");
    return started;
  }

  return {
    fetch: async (request, bytes) => (started ? started.fetch(request, bytes) : unavailableResponse("The service is not running.")),

    userOf: async (key) => started?.userOf(key),
    readiness: async () => (started ? started.readiness() : [{ part: "start", ...createNotReady("It is starting or stopping.") }]),
    listen: async (key, clientId, notify) => started?.listen(key, clientId, notify),

    async start() {
      if (started) throw new Error("The service is already running.");
      try {
        started = await startService(options);
      } catch (error) {
        throw toStartFailure(error, options.dataDir);
      }
    },

    async stop() {
      await started?.stop();
      started = undefined;
    },

    get keys() {
      return getStarted().keys;
    },
    get runners() {
      return getStarted().runners;
    },
  };
}

type ServiceStore = { keys: ServiceKeys; runners: ServiceRunners; close(): Promise<void> };

type StoreSettings = Pick<ServiceSettings, "concurrency"> & { databaseUrl?: string };

/** For the command line, next to a running service. Takes no lock. The caller must close it. */
export async function openServiceStore(dataDir: string, { concurrency, databaseUrl }: StoreSettings): Promise<ServiceStore> {
  createDataFolder(dataDir);
  try {
    await requireRows(dataDir, databaseUrl);
    const database = await (databaseUrl === undefined
      ? openDatabase(getDatabasePath(dataDir), Date.now)
      : openPostgres(databaseUrl, Date.now));
    const slots = async () => (databaseUrl === undefined ? concurrency : (await countLiveSlots(database)) || concurrency);
    const builtIn = { slots, classes: nodeClasses.size };
    return {
      keys: createKeys(database, Date.now),
      runners: createRunners({ database, now: Date.now, builtIn }),
      close: () => database.close(),
    };
  } catch (error) {
    throw toStartFailure(error, dataDir);
  }
}
