// Two services with a shared PostgreSQL and blob store, each with a database connection that can be cut.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { inject } from "vitest";
import { type ServiceOptions } from "@/lib/service/index";
import { parseSettings } from "./blob-backends";
import { closeAfterwards } from "./close-afterwards";
import { startPostgresProxy } from "./postgres-proxy";
import { createDatabase } from "./postgres-server";
import { createClient, startService } from "./service";

export type TwoServices = Awaited<ReturnType<typeof startTwoServices>>;

export async function startTwoServices(options: Partial<ServiceOptions> = {}, secondOptions: Partial<ServiceOptions> = options) {
  const database = await createDatabase(inject("postgres"));
  const blobs = await mkdtemp(join(tmpdir(), "lightdesk-shared-bytes-"));
  const databaseProxy = await startPostgresProxy(database.url);
  const shared = parseSettings({ LIGHTDESK_BLOBS: blobs });
  const first = await startService({ ...shared, databaseUrl: database.url, ...options });
  const second = await startService({ ...shared, databaseUrl: databaseProxy.url, ...secondOptions });
  return {
    url: database.url,
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
      await databaseProxy.close();
      await database.drop();
      await rm(blobs, { recursive: true, force: true });
    }),
  };
}
