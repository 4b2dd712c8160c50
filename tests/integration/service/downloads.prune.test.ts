// How long an ended download stays available.
import { afterAll, beforeAll, expect, it } from "vitest";
import { type FileSource, patternOf, startFileSource } from "@/tests/support/file-source";
import { type Client, type ServiceBench, startService } from "@/tests/support/service";
import { until } from "@/tests/support/until";
import { begin, download, read } from "./downloads-support";
import { record, string } from "./support";

const DAY_MS = 86_400_000;
let source: FileSource;
let bench: ServiceBench;
let client: Client;
let later = 0;
beforeAll(async () => {
  source = await startFileSource(patternOf(5000));
  const settings = { downloadHosts: [source.url], downloadsAtOnce: 1, retentionTasks: 3, retentionTaskDays: 30 };
  bench = await startService({ ...settings, now: () => Date.now() + later });
  client = bench.client();
});
afterAll(async () => {
  expect(bench.complaints).toEqual([]);
  await bench.dispose();
  await source.close();
});

/** Downloads different bytes from a new address each time; returns the path of the task. */
async function ended(name: string): Promise<string> {
  source.behaviour.bytes = patternOf(5000, name.length * 7 + name.charCodeAt(0));
  return `/api/tasks/${string((await download(client, `${source.url}/${name}`)).id)}`;
}
const statuses = (paths: readonly string[]) => Promise.all(paths.map(async (path) => (await client.get(path)).status));

it("a user's newest ended tasks stay, what runs and what waits is not counted, and every asset stays", async () => {
  const other = bench.client("eve");
  const theirs = `/api/tasks/${string((await download(other, `${source.url}/theirs`)).id)}`;
  const paths = [await ended("a"), await ended("b"), await ended("c"), await ended("d"), await ended("e")];
  const first = record((await read(client, string(paths[0]))).result);
  source.behaviour.holdAfter = 1000;
  const [running, waiting] = [await begin(client, `${source.url}/held`), await begin(client, `${source.url}/behind`)];
  await until("it runs", async () => (await read(client, running)).status === "running");
  await bench.service.stop();
  await bench.service.start();
  await until("the oldest have gone", async () => (await client.get(string(paths[1]))).status === 404);
  expect(await statuses(paths)).toEqual([404, 404, 200, 200, 200]);
  expect(await statuses([running, waiting])).toEqual([200, 200]);
  expect((await other.get(theirs)).status).toBe(200);
  expect((await client.get(`/api/assets/${string(first.asset_id)}`)).status).toBe(200);
  for (const path of [waiting, running]) expect((await client.call("DELETE", path)).status).toBe(204);
  source.behaviour.holdAfter = undefined;
});

it("an old one goes by its age, and that the file is there is still known", async () => {
  const path = await ended("old");
  later = 29 * DAY_MS;
  await bench.service.stop();
  await bench.service.start();
  const young = await ended("young");
  later = 31 * DAY_MS;
  await bench.service.stop();
  await bench.service.start();
  await until("it has gone", async () => (await client.get(path)).status === 404);
  expect((await client.get(young)).status).toBe(200);
  source.given.length = 0;
  const again = await client.post("/api/assets/download", { source_url: `${source.url}/old` });
  expect(again).toMatchObject({ status: 200, body: { created_new: false } });
  expect(source.given).toEqual([]);
  const id = string(record(again.body).id);
  await client.call("DELETE", `/api/assets/${id}`);
  expect((await client.post("/api/assets/download", { source_url: `${source.url}/old` })).status).toBe(202);
});
