// The whole service on PostgreSQL, and its answers while the database is away.
import { afterEach, beforeEach, expect, inject, it } from "vitest";
import { createService } from "@/lib/service/index";
import { canvas, ended, submit } from "@/tests/integration/service/support";
import { ask, createDatabase, type OwnDatabase } from "@/tests/support/postgres-server";
import { openWire, type Wire } from "@/tests/support/postgres-wire";
import { type ServiceBench, startService } from "@/tests/support/service";

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

it("answers a whole number of a damaged row as SQLite does, to the precision of a double", async () => {
  const client = bench.client();
  expect((await client.upload("some words", "note.txt")).status).toBeLessThan(300);
  await ask(own.url, "UPDATE lightdesk_service.assets SET size = 9007199254740993, created_at = 9007199254740993 WHERE name = 'note.txt'");
  const listed = await client.get("/api/assets?name_contains=note.txt");
  expect(listed).toMatchObject({ status: 200, body: { assets: [{ name: "note.txt", size: 2 ** 53 }] } });
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
