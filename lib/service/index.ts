// The one door of the embedded service: a plain Node library behind a fetch. Whoever uses it sees nothing else of this folder.

import { join } from "node:path";
import { type Started, startService, unavailable } from "./create-service";
import { type Service, type ServiceKeys, type ServiceOptions } from "./options";
import { asStartFailure } from "./storage-failure";
import { makeDataFolder } from "./store/data-folder";
import { openDatabase } from "./store/database";
import { createKeys } from "./users/keys";

export type { Service, ServiceKeys, ServiceOptions } from "./options";

/** Nothing is opened before `start`. A service that has stopped may be started again. */
export function createService(options: ServiceOptions): Service {
  let started: Started | undefined;

  function requireKeys(): ServiceKeys {
    if (!started) throw new Error("The service is not running.");
    return started.keys;
  }

  return {
    fetch: async (request, bytes) => (started ? started.fetch(request, bytes) : unavailable("The service is not running.")),

    userOf: (key) => started?.userOf(key),
    listen: (key, clientId, tell) => started?.listen(key, clientId, tell),

    async start() {
      if (started) throw new Error("The service runs already.");
      try {
        started = await startService(options);
      } catch (error) {
        throw asStartFailure(error, options.dataDir);
      }
    },

    async stop() {
      await started?.stop();
      started = undefined;
    },

    keys: {
      createKey: (userName) => requireKeys().createKey(userName),
      listKeys: () => requireKeys().listKeys(),
      revokeKey: (prefix) => requireKeys().revokeKey(prefix),
      setUserStatus: (userName, status) => requireKeys().setUserStatus(userName, status),
    },
  };
}

/** For the command line, beside a running service: takes no lock. The caller closes it. */
export function openServiceKeys(dataDir: string): ServiceKeys & { close(): void } {
  makeDataFolder(dataDir);
  try {
    const database = openDatabase(join(dataDir, "service.sqlite"), Date.now);
    return { ...createKeys(database, Date.now), close: () => database.close() };
  } catch (error) {
    throw asStartFailure(error, dataDir);
  }
}
