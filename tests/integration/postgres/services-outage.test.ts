// Services share a PostgreSQL that goes away: running jobs go on, no job is given up because of it, and all recover by themselves.
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, vi } from "vitest";
import { canvas, ended, running, submit, waiting } from "@/tests/integration/service/support";
import { settingsOf } from "@/tests/support/blob-places";
import { ask, startPostgres } from "@/tests/support/postgres-server";
import { createClient, startService } from "@/tests/support/service";
import { until } from "@/tests/support/until";

vi.setConfig({ testTimeout: 150_000 });

it("runs no job twice for a database that was away for seconds, and takes the next ones at every service", async () => {
  const server = await startPostgres();
  const blobs = await mkdtemp(join(tmpdir(), "lightdesk-shared-bytes-"));
  const settings = { ...settingsOf({ LIGHTDESK_BLOBS: blobs }), databaseUrl: server.url, concurrency: 1 };
  // They start together: the tables are made once.
  const services = await Promise.all([1, 2, 3].map(() => startService(settings)));
  const [first] = services;
  if (!first) throw new Error("there are three");
  const client = createClient((request) => first.service.fetch(request), (await first.service.keys.createKey("ada")).key);
  const jobs = () =>
    ask<{ holder: string; attempts: number }>(server.url, "SELECT holder, attempts::integer FROM lightdesk_service.jobs ORDER BY seq");

  const long = await Promise.all([1, 2, 3].map((color) => submit(client, waiting(5, color))));
  for (const id of long) await running(client, id);
  const short = await Promise.all(Array.from({ length: 12 }, (_, color) => submit(client, canvas(color + 10))));
  await server.stop();
  // All leases have expired by then.
  const written = async (folder: string) =>
    (await readdir(join(folder, "work"), { recursive: true })).some((file) => file.endsWith(".png"));
  for (const { folder } of services) await until("what ran has put something out", () => written(folder));
  await server.start();
  await until("it answers again", async () => (await client.get("/api/jobs")).status === 200);
  for (const id of [...long, ...short]) expect(await ended(client, id, 60_000)).toMatchObject({ status: "completed", outputs_count: 1 });
  expect((await jobs()).map(({ attempts }) => attempts)).toEqual([...long, ...short].map(() => 1));

  const later = await Promise.all(Array.from({ length: 12 }, (_, color) => submit(client, waiting(0.5, color + 40))));
  for (const id of later) expect(await ended(client, id)).toMatchObject({ status: "completed" });
  expect(new Set((await jobs()).slice(-12).map(({ holder }) => holder)).size).toBe(3);
  await Promise.all(services.map((service) => service.dispose()));
  await server.remove();
  await rm(blobs, { recursive: true });
});
