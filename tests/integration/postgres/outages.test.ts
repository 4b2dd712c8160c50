// When the database's disk is full, writes are refused with a remedy, reads work, and it recovers automatically.
import { randomBytes } from "node:crypto";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, inject, it, vi } from "vitest";
import { enqueueAll } from "@/lib/service/jobs/queue/queue-entries";
import { createQueueWorker, migrateQueue, openQueuePool } from "@/lib/service/jobs/queue/queue-worker";
import { type Database } from "@/lib/service/store/database";
import { openPostgres } from "@/lib/service/store/postgres/database";
import { createPostgresProcesses } from "@/lib/service/store/postgres/processes";
import { type Processes } from "@/lib/service/store/processes";
import { canMount, makeMounted } from "@/tests/faults/disk/small-disk";
import { canvas, submit, waitForEnd, waitForStart, waitGraph } from "@/tests/integration/service/support";
import { parseSettings } from "@/tests/support/blob-backends";
import { type Line, startLine } from "@/tests/support/line";
import { createDatabase, queryDatabase, startPostgres, type TestDatabase } from "@/tests/support/postgres-server";
import { createClient, startService } from "@/tests/support/service";
import { temporaryFolder } from "@/tests/support/temporary-folder";
import { until } from "@/tests/support/until";

type FullDisk = { url: string; fill(): Promise<void>; free(): Promise<void>; dispose(): Promise<void> };

/** Makes the server refuse writes with its own error code, without filling its disk. */
async function byWord(): Promise<FullDisk> {
  const database = await createDatabase(inject("postgres"));
  const refuse = `CREATE FUNCTION lightdesk_service.refuse() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN RAISE EXCEPTION 'could not extend file' USING ERRCODE = 'disk_full'; END $$;`;
  const on = "CREATE TRIGGER refuse BEFORE INSERT ON lightdesk_service.job_inputs EXECUTE FUNCTION lightdesk_service.refuse()";
  return {
    url: database.url,
    fill: async () => void (await queryDatabase(database.url, refuse + on)),
    free: async () => void (await queryDatabase(database.url, "DROP FUNCTION lightdesk_service.refuse() CASCADE")),
    dispose: database.drop,
  };
}

async function byDisk(): Promise<FullDisk> {
  const disk = makeMounted(160);
  const server = await startPostgres({ below: disk.path });
  const database = await createDatabase(server.url);
  return {
    url: database.url,
    fill: () => Promise.resolve(disk.fill()),
    free: () => Promise.resolve(disk.free()),
    async dispose() {
      await server.remove();
      disk.dispose();
    },
  };
}

it.each([["by the server's word", byWord] as const, ...(canMount ? ([["by a small disk", byDisk]] as const) : [])])(
  "refuses writes with 507 when %s is full, cancels jobs and recovers",
  async (_, make) => {
    const disk = await make();
    const service = await startService({ databaseUrl: disk.url, concurrency: 1 });
    const client = service.client();
    const before = await submit(client, canvas());
    await waitForEnd(client, before);
    const asset = (await client.upload("some words", "note.txt")).body as { id: string };
    const runs = await submit(client, waitGraph(3600));
    await waitForStart(client, runs);
    const waits = await submit(client, canvas(2));
    await disk.fill();
    const note = () => ({ prompt: canvas(), extra_data: { note: randomBytes(150_000).toString("base64") } });
    // Free space inside the tables may still take some rows.
    const refused = await until("a submission is refused", async () => {
      const response = await client.post("/api/prompt", note());
      return response.status !== 200 && response;
    });
    expect([refused.status, refused.body]).toEqual([507, expect.objectContaining({ code: "INSUFFICIENT_STORAGE" })]);
    expect(refused.text).toMatch(/disk .* is full\. Nothing from this request was stored\. The operator must free space/);
    for (const path of [`/api/jobs/${before}`, "/api/jobs", "/api/assets", "/api/queue"])
      expect([path, (await client.get(path)).status]).toEqual([path, 200]);
    // Deleting and cancelling need hardly any space.
    expect((await client.call("DELETE", `/api/assets/${asset.id}`)).status).toBe(204);
    for (const id of [waits, runs]) {
      expect((await client.post(`/api/jobs/${id}/cancel`)).status).toBe(200);
      expect((await waitForEnd(client, id)).status).toBe("cancelled");
    }
    await disk.free();
    const id = await until("a submission is taken", async () => {
      const response = await client.post("/api/prompt", note());
      return response.status === 200 && (response.body as { prompt_id: string }).prompt_id;
    });
    expect(await waitForEnd(client, id)).toMatchObject({ status: "completed" });
    await service.dispose();
    await disk.dispose();
  },
);

describe("services outage", () => {
  vi.setConfig({ testTimeout: 150_000 });

  it("runs no job twice after a short database outage and resumes", async () => {
    const server = await startPostgres();
    const blobs = temporaryFolder();
    const settings = { ...parseSettings({ LIGHTDESK_BLOBS: blobs }), databaseUrl: server.url, concurrency: 1 };
    // They start together: the tables are created once.
    const services = await Promise.all([1, 2, 3].map(() => startService(settings)));
    const [first] = services;
    if (!first) throw new Error("there are three");
    const client = createClient((request) => first.service.fetch(request), (await first.service.keys.createKey("ada")).key);
    const jobs = () =>
      queryDatabase<{ holder: string; attempts: number }>(
        server.url,
        "SELECT holder, attempts::integer FROM lightdesk_service.jobs ORDER BY seq",
      );

    const long = await Promise.all([1, 2, 3].map((color) => submit(client, waitGraph(5, color))));
    for (const id of long) await waitForStart(client, id);
    const short = await Promise.all(Array.from({ length: 12 }, (_, color) => submit(client, canvas(color + 10))));
    await server.stop();
    // All leases have expired by then.
    const listFiles = async (folder: string) =>
      (await readdir(join(folder, "work"), { recursive: true })).some((file) => file.endsWith(".png"));
    for (const { folder } of services) await until("what ran has put something out", () => listFiles(folder));
    await server.start();
    await until("it answers again", async () => (await client.get("/api/jobs")).status === 200);
    for (const id of [...long, ...short])
      expect(await waitForEnd(client, id, 60_000)).toMatchObject({ status: "completed", outputs_count: 1 });
    expect((await jobs()).map(({ attempts }) => attempts)).toEqual([...long, ...short].map(() => 1));

    const later = await Promise.all(Array.from({ length: 12 }, (_, color) => submit(client, waitGraph(0.5, color + 40))));
    for (const id of later) expect(await waitForEnd(client, id)).toMatchObject({ status: "completed" });
    expect(new Set((await jobs()).slice(-12).map(({ holder }) => holder)).size).toBe(3);
    await Promise.all(services.map((service) => service.dispose()));
    await server.remove();
  });
});

describe("queue unresponsive", () => {
  const complaints: unknown[] = [];
  const log = { info: () => undefined, warn: () => undefined, error: (...args: unknown[]) => void complaints.push(args) };
  let ownDatabase: TestDatabase;
  let line: Line;
  let database: Database;
  let processes: Processes;

  beforeEach(async () => {
    ownDatabase = await createDatabase(inject("postgres"));
    line = await startLine(Number(new URL(ownDatabase.url).port));
    database = await openPostgres(ownDatabase.url, Date.now);
    processes = createPostgresProcesses(database, ownDatabase.url, log);
    await processes.start({ slots: 1, hasSharedFiles: true });
  });
  afterEach(async () => {
    await processes.close();
    await database.close();
    line.close();
    await ownDatabase.drop();
  });

  it("polls over another connection when one stalls and runs pending jobs", async () => {
    const making = await openQueuePool(ownDatabase.url);
    await migrateQueue(making, log);
    await making.end();
    const pgPool = await openQueuePool(ownDatabase.url.replace(/:\d+\//, `:${line.port}/`), { statementMs: 1000, connectMs: 500 });
    let searches = 0;
    const results: unknown[] = [];
    const worker = createQueueWorker(
      { pgPool, processes, database, log },
      {
        kindsToSkip() {
          searches += 1;
          return [];
        },
        take: (payload) => Promise.resolve(void results.push(payload)),
      },
    );
    worker.start();
    await until("it has searched", () => searches >= 2);
    line.forget();
    const before = searches;
    worker.wakeUp();
    await until("the silent search was given up", () => searches >= before + 2);
    await database.commit((tx) => enqueueAll(tx, [{ seq: 1, userId: 1, kind: "|" }]));
    await until("what waits is taken", () => results.length > 0);
    expect(results).toMatchObject([{ seq: 1, userId: 1 }]);
    // The lease reports an outage; the queue does not.
    expect(complaints).toEqual([]);
    await worker.stop();
    await pgPool.end();
  });
});
