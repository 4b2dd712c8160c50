// Entry point of the embedded service: a plain Node library behind a fetch function. Import nothing else from this folder.

import { type ServiceRunners } from "@/lib/contract/runners/runners";
import { createNotReady } from "@/lib/shared/readiness";
import { type StartedService, startService, unavailableResponse } from "./create-service";
import { nodeClasses } from "./nodes/library";
import { type Service, type ServiceKeys, type ServiceOptions } from "./options";
import { createRunners } from "./runners/store";
import { toStartupError } from "./service-error";
import { type ServiceSettings } from "./settings";
import { createDataFolder } from "./store/data-folder";
import { openPostgres } from "./store/postgres/database";
import { countLiveSlots } from "./store/postgres/processes";
import { openDatabase } from "./store/sqlite";
import { getDatabasePath, requireRows } from "./store/store-location";
import { createKeys } from "./users/keys";

export { tryBlobBackend } from "./assets/blobs/open-blobs";
export { copyBlobs } from "./copy-blobs";
export { copyServiceStore, requireEmptyTarget as requireEmptyServiceTarget, requireUnusedFolder } from "./store/copy-store";
export {
  containsService as holdsService,
  isFolderOfDatabase as isServiceFolderOfDatabase,
  requireRows as requireServiceRows,
} from "./store/store-location";
export type { Service, ServiceKeys, ServiceOptions } from "./options";
export { backUpService } from "./backup/back-up";
export { checkServiceBackup, restoreService, sweepServiceBackup } from "./backup/restore";
export { postgresHistory as servicePostgresHistory, sqliteHistory as serviceHistory } from "./store/baseline";
export { SERVICE_SCHEMA as serviceDatabaseSchema } from "./store/baseline";
export { serviceContentsSchema, storedFileSchema } from "./backup/restore";

export function createService(options: ServiceOptions): Service {
  let startedService: StartedService | undefined;

  function requireStartedService(): StartedService {
    if (!startedService) throw new Error("The service is not running.");
    return startedService;
  }

  return {
    fetch: async (request, bytes) =>
      startedService ? startedService.fetch(request, bytes) : unavailableResponse("The service is not running."),

    findUserName: async (key) => startedService?.findUserName(key),
    readiness: async () =>
      startedService ? startedService.readiness() : [{ part: "start", ...createNotReady("It is starting or stopping.") }],
    subscribe: async (key, clientId, notify) => startedService?.listen(key, clientId, notify),

    async start() {
      if (startedService) throw new Error("The service is already running.");
      try {
        startedService = await startService(options);
      } catch (error) {
        throw toStartupError(error, options.dataDir);
      }
    },

    async stop() {
      await startedService?.stop();
      startedService = undefined;
    },

    get keys() {
      return requireStartedService().keys;
    },
    get runners() {
      return requireStartedService().runners;
    },
  };
}

type ServiceStore = { keys: ServiceKeys; runners: ServiceRunners; close(): Promise<void> };

type StoreSettings = Pick<ServiceSettings, "concurrency"> & { databaseUrl?: string };

/** Opens the store for the command line, which may run next to a service. Takes no lock. The caller must close the store. */
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
    throw toStartupError(error, dataDir);
  }
}
