// Two services with a shared PostgreSQL and blob store, each with a database connection that can be cut.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { inject } from "vitest";
import { type ServiceOptions } from "@/lib/service/index";
import { parseSettings } from "./blob-backends";
import { closeAfterwards } from "./close-afterwards";
import { createDatabase } from "./postgres-server";
import { openWire } from "./postgres-wire";
import { createClient, startService } from "./service";

export type TwoServices = Awaited<ReturnType<typeof startTwoServices>>;

export async function startTwoServices(options: Partial<ServiceOptions> = {}, secondOptions: Partial<ServiceOptions> = options) {
  const database = await createDatabase(inject("postgres"));
  const blobs = await mkdtemp(join(tmpdir(), "lightdesk-shared-bytes-"));
  const wire = await openWire(database.url);
  const shared = parseSettings({ LIGHTDESK_BLOBS: blobs });
  const first = await startService({ ...shared, databaseUrl: database.url, ...options });
  const second = await startService({ ...shared, databaseUrl: wire.url, ...secondOptions });
  return {
    url: database.url,
    first,
    second,
    /** The database connection of `there`. */
    wire,
    /** A client of each, with the same key. */
    async clients(user = "ada") {
      const { key } = await first.service.keys.createKey(user);
      const [send, sendThere] = [first, second].map(
        ({ service }) =>
          (request: Request) =>
            service.fetch(request),
      );
      if (!send || !sendThere) throw new Error("there are two");
      return { first: createClient(send, key), second: createClient(sendThere, key) };
    },
    dispose: closeAfterwards(async () => {
      wire.mend();
      await Promise.all([first.dispose(), second.dispose()]);
      await wire.close();
      await database.drop();
      await rm(blobs, { recursive: true, force: true });
    }),
  };
}
