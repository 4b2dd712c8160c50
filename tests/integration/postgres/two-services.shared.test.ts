// Two services on one PostgreSQL. Every change is visible at both.
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { beforeEach, expect, it } from "vitest";
import {
  asRecord,
  asRecords,
  asString,
  createColorGraph,
  createPng,
  createWaitGraph,
  type Json,
  readJob,
  submitGraph,
  waitForEnd,
} from "@/tests/integration/service/support";
import { createBucketSettings } from "@/tests/support/blob-backends";
import { queryDatabase } from "@/tests/support/postgres-server";
import { startStrictS3 } from "@/tests/support/servers";
import { type Client, startService } from "@/tests/support/service";
import { createTemporaryFolder } from "@/tests/support/temporary-folder";
import { startTwoServices, type TwoServices } from "@/tests/support/two-services";
import { until } from "@/tests/support/until";

let services: TwoServices;
beforeEach(async () => {
  services = await startTwoServices({ concurrency: 1 });
});

type ReceivedMessage = { type: string; data: Json };
/** Subscribes at each service and returns the messages received by each subscriber. */
async function subscribeToBoth(user = "ada") {
  const { key } = await services.first.service.keys.createKey(user);
  return Promise.all(
    [services.first, services.second].map(async ({ service }) => {
      const received: ReceivedMessage[] = [];
      await service.subscribe(key, undefined, (item) => typeof item === "string" && received.push(JSON.parse(item) as ReceivedMessage));
      return received;
    }),
  );
}
const filterByJob = (received: readonly ReceivedMessage[], id: string) => received.filter(({ data }) => data.prompt_id === id);
const hasEnded = (received: readonly ReceivedMessage[], id: string) =>
  filterByJob(received, id).some(({ type, data }) => type === "executing" && data.node === null);
/** Progress messages may be dropped. Every other message reaches both subscribers. */
const filterSteps = (received: readonly ReceivedMessage[], id: string) =>
  filterByJob(received, id).filter(({ type }) => !type.startsWith("progress"));

/** Outputs two equal images immediately, then waits in a node. */
const createSlowGraph = (seconds: number): Json => ({
  ...createColorGraph(0x1f2f3f, 48),
  "1": { class_type: "EmptyImage", inputs: { width: 48, height: 48, batch_size: 2, color: 0x1f2f3f } },
  "3": { class_type: "Wait", inputs: { seconds, anything: ["1", 0] } },
  "4": { class_type: "SaveImage", inputs: { images: ["3", 0], filename_prefix: "late" } },
});

it("reports a job's events equally at both services", async () => {
  const both = await subscribeToBoth();
  const { first, second } = await services.createClients();
  for (const client of [first, second]) {
    const id = await submitGraph(client, createWaitGraph(0.5, client === first ? 1 : 2));
    await until("both subscribers received the end", () => both.every((received) => hasEnded(received, id)));
    const [firstReceived = [], otherReceived = []] = both;
    expect(filterSteps(otherReceived, id)).toEqual(filterSteps(firstReceived, id));
    expect(filterSteps(firstReceived, id).map(({ type }) => type)).toEqual([
      ...["execution_start", "execution_cached", "executing", "executing", "executing", "executed", "execution_success", "executing"],
    ]);
    for (const received of both) {
      expect(filterByJob(received, id).filter(({ type }) => type === "progress").length).toBeGreaterThan(0);
      await until("an empty queue is reported", () =>
        JSON.stringify(received.findLast(({ type }) => type === "status")?.data).includes(":0"),
      );
    }
  }
});

it("reports a cancelled job once as interrupted at both services", async () => {
  const both = await subscribeToBoth();
  const clients = await services.createClients();
  for (const client of [clients.first, clients.second]) {
    const id = await submitGraph(clients.first, createWaitGraph(3600, client === clients.first ? 1 : 2));
    await until("both subscribers received the start", () =>
      both.every((received) => filterByJob(received, id).some(({ type }) => type === "executing")),
    );
    await client.post(`/api/jobs/${id}/cancel`);
    await until("both subscribers received the end", () => both.every((received) => hasEnded(received, id)));
    for (const received of both) expect(filterByJob(received, id).filter(({ type }) => type === "execution_interrupted")).toHaveLength(1);
  }
});

/** Waits for the first image of a running job and returns its URL. */
async function waitForOutput(received: readonly ReceivedMessage[], id: string): Promise<{ address: string; filename: string }> {
  const findExecuted = () => filterByJob(received, id).find(({ type }) => type === "executed");
  await until("the first image is reported", findExecuted);
  const [item] = asRecord(asRecord(findExecuted()?.data).output).images as { filename: string }[];
  const filename = item?.filename ?? "";
  return { address: `/api/view?filename=${filename}&type=output`, filename };
}

async function expectSameImage(clients: readonly Client[], address: string): Promise<void> {
  const images = await Promise.all(clients.map(async (client) => Buffer.from(await (await client.raw("GET", address)).arrayBuffer())));
  for (const image of images) expect([image.subarray(1, 4).toString(), image.equals(images[0] ?? Buffer.alloc(0))]).toEqual(["PNG", true]);
}

it("serves progress and live images from both services", async () => {
  const [received = []] = await subscribeToBoth();
  const { first, second } = await services.createClients();
  const id = await submitGraph(first, createSlowGraph(3600));
  const { address, filename } = await waitForOutput(received, id);
  await expectSameImage([first, second], address);
  for (const client of [first, second]) {
    const small = await client.get(`${address}&res=64`);
    expect([small.status, small.headers.get("content-type")]).toEqual([200, "image/webp"]);
    await until("the progress is reported", async () => Number(asRecord((await readJob(client, id)).progress ?? {}).nodes_done) === 2);
    const json = asRecords(asRecord((await client.get("/api/jobs")).body).jobs).find((job) => job.id === id);
    expect(asRecord(json?.progress)).toMatchObject({ nodes_total: 4, nodes_done: 2, current_node: "3" });
  }
  const eve = await services.createClients("eve");
  for (const client of [eve.first, eve.second]) expect((await client.get(address)).status).toBe(404);

  await second.post(`/api/jobs/${id}/cancel`);
  for (const client of [first, second]) await waitForEnd(client, id);
  for (const client of [first, second])
    await until("the cancelled job's image is deleted", async () => (await client.get(address)).status === 404);
  const blobsDir = join(services.first.settings.blobs?.kind === "folder" ? services.first.settings.blobs.path : "", "blake3-v1");
  const hasBlob = async () =>
    (await readdir(blobsDir, { recursive: true })).some((path) => path.length > 60 && filename.includes(path.slice(3)));
  await until("the blob is deleted", async () => !(await hasBlob()));
});

it("serves live images from a bucket and deletes stale copies", async () => {
  const s3 = await startStrictS3();
  await services.dispose();
  services = await startTwoServices({ concurrency: 1, ...createBucketSettings(s3) });
  const [received = []] = await subscribeToBoth();
  const { first, second } = await services.createClients();
  const id = await submitGraph(first, createSlowGraph(3600));
  await expectSameImage([first, second], (await waitForOutput(received, id)).address);
  await second.post(`/api/jobs/${id}/cancel`);

  const asset = asString(asRecord((await first.upload(createPng(64, 64), "p.png")).body).id);
  const { asset_hash: hash } = asRecord((await second.get(`/api/assets/${asset}`)).body);
  expect((await second.get(`/api/view?filename=${asString(hash)}.png&res=64`)).status).toBe(200);
  const listCopies = async () =>
    (await Promise.all(["blob-copies", "thumbnails"].map((name) => readdir(join(services.second.folder, name), { recursive: true }))))
      .flat()
      .filter((path) => path.length > 60 && asString(hash).includes(path.slice(3, 60)));
  expect(await listCopies()).not.toEqual([]);
  await first.call("DELETE", `/api/assets/${asset}`);
  await services.second.service.stop();
  await services.second.service.start();
  await until("the copies are deleted", async () => (await listCopies()).length === 0);
});

it("keeps bytes stored by one service while the other sweeps", async () => {
  const { first, second } = await services.createClients();
  let hasFinished = false;
  const restarts = (async () => {
    for (let round = 0; round < 4; round += 1) {
      await services.first.service.stop();
      await services.first.service.start();
    }
    hasFinished = true;
  })();
  const assetIds: string[] = [];
  for (let index = 0; !hasFinished || index < 20; index += 1) {
    const text = `content ${index} `.repeat(500);
    const id = asString(asRecord((await second.upload(text, `${index}.txt`)).body).id);
    if (index % 3 === 0) {
      await second.call("DELETE", `/api/assets/${id}`);
      // The same bytes are uploaded while they are being removed.
      assetIds.push(asString(asRecord((await second.upload(text, `${index}.txt`)).body).id));
    } else assetIds.push(id);
  }
  await restarts;
  for (const id of assetIds) expect((await first.get(`/api/assets/${id}/content`)).status).toBe(200);
});

it("serves user files, assets and their changes from both services", async () => {
  const { first, second } = await services.createClients();
  await first.call("POST", "/api/userdata/workflows%2Fa.json", "one");
  expect((await second.get("/api/userdata/workflows%2Fa.json")).text).toBe("one");
  await second.call("POST", "/api/userdata/workflows%2Fa.json", "two");
  expect((await first.get("/api/userdata/workflows%2Fa.json")).text).toBe("two");
  expect((await first.call("POST", "/api/userdata/workflows%2Fa.json/move/b.json")).status).toBe(200);
  expect((await second.get("/api/userdata?dir=/")).body).toMatchObject([{ path: "b.json", size: 3 }]);
  const responses = await Promise.all(
    [first, second].map((client) => client.call("POST", "/api/userdata/race.txt?overwrite=false", client === first ? "h" : "t")),
  );
  expect(responses.map(({ status }) => status).sort()).toEqual([200, 409]);

  const asset = asString(asRecord((await first.upload(createPng(64, 64), "p.png")).body).id);
  expect((await second.get(`/api/assets/${asset}/content`)).status).toBe(200);
  await until("both services report the same access time", async () => {
    const [firstAsset, secondAsset] = await Promise.all(
      [first, second].map(async (client) => asRecord((await client.get(`/api/assets/${asset}`)).body)),
    );
    return firstAsset?.last_access_time === secondAsset?.last_access_time;
  });
  expect((await second.call("DELETE", `/api/assets/${asset}`)).status).toBe(204);
  expect((await first.get(`/api/assets/${asset}`)).status).toBe(404);
});

it("applies revoked keys and quotas to both services", async () => {
  const { first, second } = await services.createClients();
  await first.upload("x".repeat(5000), "a.txt");
  await second.upload("y".repeat(6000), "b.txt");
  const { prefix, key } = await services.second.service.keys.createKey("ada");
  const getStatus = async ({ anonymous }: TwoServices["first"]) => (await anonymous(key).get("/api/user")).status;
  expect(await getStatus(services.first)).toBe(200);
  await services.first.service.keys.revokeKey(prefix);
  expect([await getStatus(services.first), await getStatus(services.second)]).toEqual([401, 401]);
  expect(await queryDatabase(services.url, "SELECT bytes::integer FROM lightdesk_service.user_storage")).toEqual([{ bytes: 11_000 }]);
});

it("rejects a second service that stores files locally", async () => {
  const start = startService({ dataDir: createTemporaryFolder(), databaseUrl: services.url });
  await expect(start).rejects.toThrow(/are in another data folder .* set LIGHTDESK_BLOBS/);
});

it("clears the history at both services and deletes its rows", async () => {
  const { first, second } = await services.createClients();
  for (let color = 1; color <= 4; color += 1) await waitForEnd(first, await submitGraph(first, createColorGraph(color)));
  for (const client of [second, first]) {
    expect((await client.post("/api/history", { clear: true })).status).toBe(200);
    for (const item of [first, second]) expect((await item.get("/api/jobs")).body).toMatchObject({ jobs: [], pagination: { total: 0 } });
    const countRows = () => queryDatabase<{ n: number }>(services.url, "SELECT count(*)::integer AS n FROM lightdesk_service.jobs");
    await until("the rows are deleted", async () => (await countRows())[0]?.n === 0);
    await waitForEnd(second, await submitGraph(second, createColorGraph(9)));
  }
});
