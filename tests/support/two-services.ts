// Two services on one PostgreSQL with one place for bytes, each with a connection to the database that can be cut.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { inject } from "vitest";
import { type ServiceOptions } from "@/lib/service/index";
import { settingsOf } from "./blob-backends";
import { closeAfterwards } from "./close-afterwards";
import { createDatabase } from "./postgres-server";
import { openWire } from "./postgres-wire";
import { createClient, startService } from "./service";

export type TwoServices = Awaited<ReturnType<typeof startTwoServices>>;

export async function startTwoServices(options: Partial<ServiceOptions> = {}, others: Partial<ServiceOptions> = options) {
  const own = await createDatabase(inject("postgres"));
  const blobs = await mkdtemp(join(tmpdir(), "lightdesk-shared-bytes-"));
  const wire = await openWire(own.url);
  const shared = settingsOf({ LIGHTDESK_BLOBS: blobs });
  const here = await startService({ ...shared, databaseUrl: own.url, ...options });
  const there = await startService({ ...shared, databaseUrl: wire.url, ...others });
  return {
    url: own.url,
    here,
    there,
    /** The database connection of `there`. */
    wire,
    /** A client of each, with the same key. */
    async clients(user = "ada") {
      const { key } = await here.service.keys.createKey(user);
      const [send, sendThere] = [here, there].map(
        ({ service }) =>
          (request: Request) =>
            service.fetch(request),
      );
      if (!send || !sendThere) throw new Error("there are two");
      return { here: createClient(send, key), there: createClient(sendThere, key) };
    },
    dispose: closeAfterwards(async () => {
      wire.mend();
      await Promise.all([here.dispose(), there.dispose()]);
      await wire.close();
      await own.drop();
      await rm(blobs, { recursive: true, force: true });
    }),
  };
}
