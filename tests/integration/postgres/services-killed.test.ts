// Services as processes on one PostgreSQL, killed with SIGKILL while they run jobs: the others run these jobs, and touch no job of a live process.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, inject, it, vi } from "vitest";
import { openServiceStore } from "@/lib/service/index";
import { canvas, detail, ended, running, submit, waiting } from "@/tests/integration/service/support";
import { ask, createDatabase, type OwnDatabase } from "@/tests/support/postgres-server";
import { httpClient, type ServiceProcess, startServiceProcess } from "@/tests/support/service-process";
import { until } from "@/tests/support/until";

vi.setConfig({ testTimeout: 240_000 });

let own: OwnDatabase;
let root: string;
let key: string;
beforeEach(async () => {
  own = await createDatabase(inject("postgres"));
  root = await mkdtemp(join(tmpdir(), "lightdesk-killed-"));
  const store = await openServiceStore(join(root, "keys"), { concurrency: 1, databaseUrl: own.url });
  ({ key } = await store.keys.createKey("ada"));
  await store.close();
});
afterEach(async () => {
  await own.drop();
  await rm(root, { recursive: true, force: true });
});

const start = (name: string): Promise<ServiceProcess> =>
  startServiceProcess(join(root, name), { DATABASE_URL: own.url, LIGHTDESK_BLOBS: join(root, "blobs"), LIGHTDESK_CONCURRENCY: "1" });
const jobs = (where = "") =>
  ask<{ id: string; holder: string; attempts: number; state: string }>(
    own.url,
    `SELECT id, holder, attempts::integer, state FROM lightdesk_service.jobs ${where} ORDER BY seq`,
  );
const holders = async () => (await ask<{ id: string }>(own.url, "SELECT id FROM lightdesk_service.processes")).map(({ id }) => id);

it("gives what a killed one ran to another, and a start touches nothing of those that live", async () => {
  const first = await start("first");
  const before = await holders();
  const second = await start("second");
  const mine = (await holders()).filter((id) => !before.includes(id));
  const client = httpClient(first.url, key);
  const long = [await submit(client, waiting(3600)), await submit(client, waiting(3600, 2))];
  for (const id of long) await running(client, id);
  const [lost] = (await jobs()).filter(({ holder }) => mine.includes(holder));
  const [kept] = (await jobs()).filter(({ holder }) => !mine.includes(holder));
  await second.stop("SIGKILL");
  // Starts before the dead process is known to be dead, and takes over in the end.
  const third = await start("third");
  await until(
    "it runs elsewhere",
    async () => (await jobs(`WHERE id = '${lost?.id}' AND state = 'in_progress' AND holder <> '${lost?.holder}'`)).length === 1,
  );
  expect((await jobs(`WHERE id = '${lost?.id}'`))[0]).toMatchObject({ attempts: 2 });
  expect((await jobs(`WHERE id = '${kept?.id}'`))[0]).toEqual(kept);
  expect((await detail(httpClient(third.url, key), kept?.id ?? "")).status).toBe("in_progress");
  await httpClient(third.url, key).post("/api/interrupt");
  for (const id of long) expect((await ended(client, id)).status).toBe("cancelled");
  expect([await first.stop(), await third.stop()]).toEqual([0, 0]);
});

it("loses no job and runs none twice at once, while services are killed and started again", async () => {
  let services = [await start("a"), await start("b")];
  const ids: string[] = [];
  for (let round = 0; round < 4; round += 1) {
    const [victim, other] = services;
    if (!victim || !other) throw new Error("there are two");
    for (let color = 1; color <= 10; color += 1) ids.push(await submit(httpClient(other.url, key), waiting(0.2, round * 10 + color)));
    await until("some have ended", async () => (await jobs("WHERE state = 'completed'")).length >= round * 10 + 3);
    await victim.stop("SIGKILL");
    services = [other, await start(round % 2 === 0 ? "a" : "b")];
  }
  const [one] = services;
  const client = httpClient(one?.url ?? "", key);
  for (const id of ids) expect(["completed", "failed"]).toContain((await ended(client, id, 60_000)).status);
  const all = await jobs();
  // A job that was lost three times is reported as lost; each kill loses at most one.
  expect(all.reduce((sum, { attempts }) => sum + attempts - 1, 0)).toBeLessThanOrEqual(4);
  expect(all.map(({ state }) => state)).toEqual(ids.map(() => "completed"));
  const outputs =
    "SELECT count(*)::integer AS n, count(DISTINCT prompt_id)::integer AS jobs FROM lightdesk_service.assets WHERE origin = 'output'";
  expect(await ask(own.url, outputs)).toEqual([{ n: ids.length, jobs: ids.length }]);
  expect((await ended(client, await submit(client, canvas(1)))).status).toBe("completed");
  for (const service of services) await service.stop();
});
