// A full disk, an outage and a stalled connection of the database. The service recovers automatically from each.
import { randomBytes } from "node:crypto";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it, vi } from "vitest";
import { enqueueAll } from "@/lib/service/jobs/queue/queue-entries";
import { createQueueWorker, migrateQueue, openQueuePool } from "@/lib/service/jobs/queue/queue-worker";
import { openPostgres } from "@/lib/service/store/postgres/database";
import { createPostgresProcesses } from "@/lib/service/store/postgres/processes";
import { canMount, createMountedDisk } from "@/tests/faults/disk/small-disk";
import { createColorGraph, createWaitGraph, submitGraph, waitForEnd, waitForStart } from "@/tests/integration/service/support";
import { parseSettings } from "@/tests/support/blob-backends";
import { startBreakableProxy } from "@/tests/support/breakable-proxy";
import { openTestDatabase } from "@/tests/support/postgres-proxy";
import { createDatabase, queryDatabase, startPostgres } from "@/tests/support/postgres-server";
import { createClient, startService } from "@/tests/support/service";
import { createTemporaryFolder } from "@/tests/support/temporary-folder";
import { until } from "@/tests/support/until";

type FullDisk = { url: string; fill(): Promise<void>; free(): Promise<void>; dispose(): Promise<void> };

/** Makes the server reject writes with its error code for a full disk, without filling the disk. */
async function createSimulatedDisk(): Promise<FullDisk> {
  const url = await openTestDatabase();
  const createFunction = `CREATE FUNCTION lightdesk_service.refuse() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN RAISE EXCEPTION 'could not extend file' USING ERRCODE = 'disk_full'; END $$;`;
  const createTrigger = "CREATE TRIGGER refuse BEFORE INSERT ON lightdesk_service.job_inputs EXECUTE FUNCTION lightdesk_service.refuse()";
  return {
    url,
    fill: async () => void (await queryDatabase(url, createFunction + createTrigger)),
    free: async () => void (await queryDatabase(url, "DROP FUNCTION lightdesk_service.refuse() CASCADE")),
    dispose: () => Promise.resolve(),
  };
}

async function createSmallDisk(): Promise<FullDisk> {
  const disk = createMountedDisk(160);
  const server = await startPostgres({ below: disk.path });
  const database = await createDatabase(server.url);
  return {
    url: database.url,
    fill: () => Promise.resolve(disk.fill()),
    free: () => Promise.resolve(disk.free()),
    dispose: server.remove,
  };
}

it.each([["a simulated disk", createSimulatedDisk] as const, ...(canMount ? ([["a small disk", createSmallDisk]] as const) : [])])(
  "rejects writes with 507 when %s is full, cancels jobs and recovers",
  async (_, createDisk) => {
    const disk = await createDisk();
    const service = await startService({ databaseUrl: disk.url, concurrency: 1 });
    const client = service.client();
    const completedId = await submitGraph(client, createColorGraph());
    await waitForEnd(client, completedId);
    const asset = (await client.upload("some words", "note.txt")).body as { id: string };
    const runningId = await submitGraph(client, createWaitGraph(3600));
    await waitForStart(client, runningId);
    const pendingId = await submitGraph(client, createColorGraph(2));
    await disk.fill();
    const createLargeSubmission = () => ({
      prompt: createColorGraph(),
      extra_data: { note: randomBytes(150_000).toString("base64") },
    });
    // Free space inside the tables may still take some rows.
    const rejection = await until("a submission is rejected", async () => {
      const response = await client.post("/api/prompt", createLargeSubmission());
      return response.status !== 200 && response;
    });
    expect([rejection.status, rejection.body]).toEqual([507, expect.objectContaining({ code: "INSUFFICIENT_STORAGE" })]);
    expect(rejection.text).toMatch(/disk .* is full\. Nothing from this request was stored\. The operator must free space/);
    for (const path of [`/api/jobs/${completedId}`, "/api/jobs", "/api/assets", "/api/queue"])
      expect([path, (await client.get(path)).status]).toEqual([path, 200]);
    // Deleting and cancelling need hardly any space.
    expect((await client.call("DELETE", `/api/assets/${asset.id}`)).status).toBe(204);
    for (const id of [pendingId, runningId]) {
      expect((await client.post(`/api/jobs/${id}/cancel`)).status).toBe(200);
      expect((await waitForEnd(client, id)).status).toBe("cancelled");
    }
    await disk.free();
    const id = await until("a submission is accepted", async () => {
      const response = await client.post("/api/prompt", createLargeSubmission());
      return response.status === 200 && (response.body as { prompt_id: string }).prompt_id;
    });
    expect(await waitForEnd(client, id)).toMatchObject({ status: "completed" });
    await service.dispose();
    await disk.dispose();
  },
);

describe("database outage", () => {
  vi.setConfig({ testTimeout: 150_000 });

  it("runs no job twice after a short database outage and resumes", async () => {
    const server = await startPostgres();
    const blobs = createTemporaryFolder();
    const settings = { ...parseSettings({ LIGHTDESK_BLOBS: blobs }), databaseUrl: server.url, concurrency: 1 };
    // They start together, but must create the tables only once.
    const services = await Promise.all([1, 2, 3].map(() => startService(settings)));
    const [first] = services;
    if (!first) throw new Error("expected three services");
    const client = createClient((request) => first.service.fetch(request), (await first.service.keys.createKey("ada")).key);
    const listJobRuns = () =>
      queryDatabase<{ holder: string; attempts: number }>(
        server.url,
        "SELECT holder, attempts::integer FROM lightdesk_service.jobs ORDER BY seq",
      );

    const longJobIds = await Promise.all([1, 2, 3].map((color) => submitGraph(client, createWaitGraph(5, color))));
    for (const id of longJobIds) await waitForStart(client, id);
    const shortJobIds = await Promise.all(Array.from({ length: 12 }, (_, color) => submitGraph(client, createColorGraph(color + 10))));
    await server.stop();
    // All leases have expired by then.
    const hasOutputFile = async (folder: string) =>
      (await readdir(join(folder, "work"), { recursive: true })).some((file) => file.endsWith(".png"));
    for (const { folder } of services) await until("the running jobs have produced files", () => hasOutputFile(folder));
    await server.start();
    await until("the service responds again", async () => (await client.get("/api/jobs")).status === 200);
    for (const id of [...longJobIds, ...shortJobIds])
      expect(await waitForEnd(client, id, 60_000)).toMatchObject({ status: "completed", outputs_count: 1 });
    expect((await listJobRuns()).map(({ attempts }) => attempts)).toEqual([...longJobIds, ...shortJobIds].map(() => 1));

    const laterJobIds = await Promise.all(Array.from({ length: 12 }, (_, color) => submitGraph(client, createWaitGraph(0.5, color + 40))));
    for (const id of laterJobIds) expect(await waitForEnd(client, id)).toMatchObject({ status: "completed" });
    expect(new Set((await listJobRuns()).slice(-12).map(({ holder }) => holder)).size).toBe(3);
    await Promise.all(services.map((service) => service.dispose()));
    await server.remove();
  });
});

it("polls over another connection when one stalls and runs pending jobs", async () => {
  const loggedErrors: unknown[] = [];
  const log = { info: () => undefined, warn: () => undefined, error: (...args: unknown[]) => void loggedErrors.push(args) };
  const url = await openTestDatabase();
  const proxy = await startBreakableProxy(Number(new URL(url).port));
  const database = await openPostgres(url, Date.now);
  const processes = createPostgresProcesses(database, url, log);
  await processes.start({ slots: 1, hasSharedFiles: true });
  const migrationPool = await openQueuePool(url);
  await migrateQueue(migrationPool, log);
  await migrationPool.end();
  const pgPool = await openQueuePool(url.replace(/:\d+\//, `:${proxy.port}/`), { statementMs: 1000, connectMs: 500 });
  let searchCount = 0;
  const results: unknown[] = [];
  const worker = createQueueWorker(
    { pgPool, processes, database, log },
    {
      getKindsToSkip() {
        searchCount += 1;
        return [];
      },
      handleEntry: (payload) => Promise.resolve(void results.push(payload)),
    },
  );
  worker.start();
  await until("the queue has been searched", () => searchCount >= 2);
  proxy.silence();
  const before = searchCount;
  worker.wakeUp();
  await until("the stalled search is repeated", () => searchCount >= before + 2);
  await database.commit((tx) => enqueueAll(tx, [{ seq: 1, userId: 1, kind: "|" }]));
  await until("the pending entry is handled", () => results.length > 0);
  expect(results).toMatchObject([{ seq: 1, userId: 1 }]);
  // The lease reports an outage, but the queue doesn't.
  expect(loggedErrors).toEqual([]);
  await worker.stop();
  await pgPool.end();
  await processes.close();
  await database.close();
  proxy.close();
});
