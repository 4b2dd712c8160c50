// The service as a whole on PostgreSQL: one process at a time, and what a client is told while the database is away.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import { afterEach, beforeEach, expect, inject, it } from "vitest";
import { createService } from "@/lib/service/index";
import { canvas, ended, submit } from "@/tests/integration/service/support";
import { ask, createDatabase, type OwnDatabase } from "@/tests/support/postgres-server";
import { openWire, type Wire } from "@/tests/support/postgres-wire";
import { type ServiceBench, startService } from "@/tests/support/service";
import { until } from "@/tests/support/until";

let own: OwnDatabase;
let wire: Wire;
let bench: ServiceBench;
beforeEach(async () => {
  own = await createDatabase(inject("postgres"));
  wire = await openWire(own.url);
  bench = await startService({ databaseUrl: wire.url });
});
afterEach(async () => {
  wire.mend();
  await bench.dispose();
  await wire.close();
  await own.drop();
});

it("keeps jobs over a restart", async () => {
  const client = bench.client();
  const id = await submit(client, canvas());
  const before = await ended(client, id);
  expect(before).toMatchObject({ status: "completed", outputs_count: 1 });
  await bench.service.stop();
  await bench.service.start();
  expect((await client.get(`/api/jobs/${id}`)).body).toEqual(before);
});

it("refuses a second process on the database in plain words, until the first has stopped", async () => {
  const dataDir = await mkdtemp(join(tmpdir(), "lightdesk-service-"));
  const second = createService({ ...bench.settings, dataDir });
  await expect(second.start()).rejects.toThrow(/^Another process of the service has the database.*stop one of the two/);
  await bench.service.stop();
  await second.start();
  await second.stop();
  await bench.service.start();
  await rm(dataDir, { recursive: true });
});

it("writes nothing while another process has taken its place, and goes on afterwards", async () => {
  const client = bench.client();
  await client.get("/api/user");
  const other = new pg.Client({ connectionString: own.url });
  await other.connect();
  const takes = other.query("SELECT pg_advisory_lock(hashtextextended('lightdesk service', 0))");
  const waits = "SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND NOT granted";
  await until("the other one waits", async () => (await ask(own.url, waits)).length === 1);
  wire.breakNow();
  await takes;
  const refused = await client.post("/api/prompt", { prompt: canvas() });
  expect([refused.status, refused.body]).toEqual([503, expect.objectContaining({ code: "SERVICE_UNAVAILABLE" })]);
  expect(refused.text).toMatch(/Another process of the service has the database/);
  await other.end();
  await until("it writes again", async () => (await client.post("/api/prompt", { prompt: canvas() })).status === 200);
});

it("says that its database is away, instead of an empty list", async () => {
  const client = bench.client();
  const id = await submit(client, canvas());
  await ended(client, id);
  wire.cut();
  for (const path of ["/api/jobs", "/api/queue", "/api/history", "/api/assets", "/api/user"]) {
    const answer = await client.get(path);
    expect([path, answer.status]).toEqual([path, 503]);
    expect(answer.text).toMatch(/database does not answer now/);
  }
  wire.mend();
  expect((await client.get("/api/jobs")).body).toMatchObject({ jobs: [{ id }] });
});

it("does not begin with an empty database beside files of users", async () => {
  const upload = await bench.client().upload("some words", "note.txt");
  expect(upload.status).toBeLessThan(300);
  await bench.service.stop();
  const empty = await createDatabase(inject("postgres"));
  const other = createService({ ...bench.settings, databaseUrl: empty.url });
  await expect(other.start()).rejects.toThrow(/knows no file, though .* holds files of users/);
  await empty.drop();
  await bench.service.start();
});
