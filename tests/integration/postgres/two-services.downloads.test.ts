// Downloads of two services on one PostgreSQL: one service fetches each, both show and cancel it, and it is taken over if a service dies.
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { begin, contentOf, outcome, reached, read } from "@/tests/integration/service/downloads-support";
import { record } from "@/tests/integration/service/support";
import { type FileSource, patternOf, startFileSource } from "@/tests/support/file-source";
import { ask } from "@/tests/support/postgres-server";
import { startTwoServices, type TwoServices } from "@/tests/support/two-services";
import { until } from "@/tests/support/until";

const SIZE = 300_000;
let source: FileSource;
let two: TwoServices;
beforeEach(async () => {
  source = await startFileSource(patternOf(SIZE), { etag: '"1"' });
  two = await startTwoServices({ downloadHosts: [source.url], downloadsAtOnce: 1 });
});
afterEach(async () => {
  await two.dispose();
  await source.close();
});

const partsOf = (bench: TwoServices["here"]) => readdir(join(bench.folder, "downloads"));
const holders = async () =>
  (await ask<{ holder: string }>(two.url, "SELECT holder FROM lightdesk_service.tasks WHERE status = 'running'")).map(
    ({ holder }) => holder,
  );

it("one that has no room leaves it to the other, and each is fetched once", async () => {
  const { here, there } = await two.clients();
  source.behaviour.holdAfter = 1000;
  const paths = [await begin(here, `${source.url}/a`), await begin(here, `${source.url}/b`), await begin(here, `${source.url}/c`)];
  await until("two run", async () => (await holders()).length === 2);
  expect(new Set(await holders()).size).toBe(2);
  const states = async (client: typeof here) => (await Promise.all(paths.map((path) => read(client, path)))).map(({ status }) => status);
  expect(await states(there)).toEqual(["running", "running", "created"]);
  expect(await states(here)).toEqual(["running", "running", "created"]);
  source.behaviour.holdAfter = undefined;
  for (const response of source.pending) response.destroy();
  for (const path of paths) expect(await outcome(there, path)).toMatchObject({ status: "completed", bytes_downloaded: SIZE });
  const asked = source.seen.map(({ url }) => url.slice(0, 2));
  expect(new Set(asked)).toEqual(new Set(["/a", "/b", "/c"]));
  expect(await ask(two.url, "SELECT count(*)::integer AS n FROM lightdesk_service.assets WHERE origin = 'upload'")).toEqual([{ n: 1 }]);
});

it("the same address is fetched once, whichever of the two was asked for it", async () => {
  const { here, there } = await two.clients();
  source.behaviour.holdAfter = 1000;
  const paths = [await begin(here, `${source.url}/same`), await begin(there, `${source.url}/same`)];
  await until("a part of one has come", async () => {
    const tasks = await Promise.all(paths.map((path) => read(here, path)));
    return tasks.some(({ bytes_downloaded: count }) => count === 1000);
  });
  expect((await Promise.all(paths.map((path) => read(here, path)))).map(({ status }) => status).sort()).toEqual(["created", "running"]);
  source.behaviour.holdAfter = undefined;
  for (const response of source.pending) response.destroy();
  const [one, other] = [await outcome(here, paths[0] ?? ""), await outcome(here, paths[1] ?? "")];
  expect(record(one.result).asset_id).toBe(record(other.result).asset_id);
  expect(source.given.filter(({ start }) => start === 0)).toHaveLength(1);
});

it("a cancel at either ends it where it runs: nothing is fetched any more, and no file is left", async () => {
  const { here, there } = await two.clients();
  source.behaviour.holdAfter = 1000;
  for (const client of [here, there]) {
    const path = await begin(here, `${source.url}/${client === here ? "one" : "two"}`);
    await reached(there, path, 1000);
    expect((await client.call("DELETE", path)).status).toBe(204);
    expect([await partsOf(two.here), await partsOf(two.there)]).toEqual([[], []]);
    for (const one of [here, there]) expect(await read(one, path)).toMatchObject({ status: "cancelled" });
    expect((await there.call("DELETE", path)).status).toBe(409);
  }
});

it("is taken over where its process is gone, and what that one had is neither trusted nor kept", async () => {
  const { here, there } = await two.clients();
  source.behaviour.holdAfter = 130_000;
  const path = await begin(there, `${source.url}/taken`);
  await reached(here, path, 130_000);
  const [part] = await partsOf(two.there);
  // Cut off from the database it goes on fetching, and is given up all the same.
  two.wire.cut();
  await until("the other one has it", async () => (await partsOf(two.here)).length === 1, { timeoutMs: 20_000 });
  expect(await partsOf(two.here)).not.toContain(part);
  source.behaviour.holdAfter = undefined;
  for (const response of source.pending) response.destroy();
  const task = await outcome(here, path);
  expect(task).toMatchObject({ status: "completed", bytes_downloaded: SIZE });
  expect((await contentOf(here, task)).equals(source.behaviour.bytes)).toBe(true);
  two.wire.mend();
  await until("the part of the first one is gone", async () => (await partsOf(two.there)).length === 0, { timeoutMs: 20_000 });
  expect(await ask(two.url, "SELECT count(*)::integer AS n FROM lightdesk_service.assets WHERE origin = 'upload'")).toEqual([{ n: 1 }]);
});

it("whoever was given up writes nothing any more of a task that is another's", async () => {
  const { here } = await two.clients();
  source.behaviour.holdAfter = 100_000;
  const path = await begin(here, `${source.url}/given-up`);
  await reached(here, path, 100_000);
  const another = "('another', now() + interval '1 hour', 0, '{}')";
  await ask(two.url, `INSERT INTO lightdesk_service.processes (id, seen_at, slots, worker_ids) VALUES ${another}`);
  await ask(two.url, "UPDATE lightdesk_service.tasks SET holder = 'another', bytes_downloaded = 5");
  source.behaviour.holdAfter = undefined;
  for (const response of source.pending) response.destroy();
  await until("its part is gone", async () => (await partsOf(two.here)).length === 0 && (await partsOf(two.there)).length === 0);
  expect(await read(here, path)).toMatchObject({ status: "running", bytes_downloaded: 5 });
  expect(await ask(two.url, "SELECT holder FROM lightdesk_service.tasks")).toEqual([{ holder: "another" }]);
  expect(await ask(two.url, "SELECT 1 FROM lightdesk_service.assets WHERE origin = 'upload'")).toEqual([]);
});

it("what runs when a service stops goes on at the other", async () => {
  const { here, there } = await two.clients();
  source.behaviour.holdAfter = 1000;
  const path = await begin(there, `${source.url}/left`);
  await reached(here, path, 1000);
  source.behaviour.holdAfter = undefined;
  await two.there.service.stop();
  expect(await outcome(here, path)).toMatchObject({ status: "completed", bytes_downloaded: SIZE });
  await two.there.service.start();
  await until("its part is swept", async () => (await partsOf(two.there)).length === 0);
});
