// Two services with a shared PostgreSQL and blob store, each with a database connection that can be cut.
import { type ServiceOptions } from "@/lib/service/index";
import { parseSettings } from "./blob-backends";
import { closeAfterwards } from "./close-afterwards";
import { openTestDatabase, startPostgresProxy } from "./postgres-proxy";
import { createClient, startService } from "./service";
import { createTemporaryFolder } from "./temporary-folder";

export type TwoServices = Awaited<ReturnType<typeof startTwoServices>>;

export async function startTwoServices(options: Partial<ServiceOptions> = {}) {
  const url = await openTestDatabase();
  const databaseProxy = await startPostgresProxy(url);
  const shared = parseSettings({ LIGHTDESK_BLOBS: createTemporaryFolder() });
  const first = await startService({ ...shared, databaseUrl: url, ...options });
  const second = await startService({ ...shared, databaseUrl: databaseProxy.url, ...options });
  return {
    url,
    first,
    second,
    /** The database connection of `second`. */
    databaseProxy,
    /** Creates a client of each service with the same key. */
    async createClients(user = "ada") {
      const { key } = await first.service.keys.createKey(user);
      const [sendToFirst, sendToSecond] = [first, second].map(
        ({ service }) =>
          (request: Request) =>
            service.fetch(request),
      );
      if (!sendToFirst || !sendToSecond) throw new Error("Both services must be running.");
      return { first: createClient(sendToFirst, key), second: createClient(sendToSecond, key) };
    },
    dispose: closeAfterwards(async () => {
      databaseProxy.restore();
      await Promise.all([first.dispose(), second.dispose()]);
    }),
  };
}
