// Two services on one PostgreSQL: every change is visible at both.
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { beforeEach, expect, it } from "vitest";
import { createService } from "@/lib/service/index";
import {
  asRecord,
  asRecords,
  asString,
  canvas,
  type Json,
  png,
  readJob,
  submit,
  waitForEnd,
  waitGraph,
} from "@/tests/integration/service/support";
import { bucketSettings } from "@/tests/support/blob-backends";
import { queryDatabase } from "@/tests/support/postgres-server";
import { startStrictS3 } from "@/tests/support/servers";
import { type Client } from "@/tests/support/service";
import { temporaryFolder } from "@/tests/support/temporary-folder";
import { startTwoServices, type TwoServices } from "@/tests/support/two-services";
import { until } from "@/tests/support/until";

let two: TwoServices;
beforeEach(async () => {
  two = await startTwoServices({ concurrency: 1 });
});

type Received = { type: string; data: Json };
/** All messages that a listener at each of the two gets. */
async function listeners(user = "ada") {
  const { key } = await two.first.service.keys.createKey(user);
  return Promise.all(
    [two.first, two.second].map(async ({ service }) => {
      const received: Received[] = [];
      await service.listen(key, undefined, (item) => typeof item === "string" && received.push(JSON.parse(item) as Received));
      return received;
    }),
  );
}
const eventsOfJob = (received: readonly Received[], id: string) => received.filter(({ data }) => data.prompt_id === id);
const isOver = (received: readonly Received[], id: string) =>
  eventsOfJob(received, id).some(({ type, data }) => type === "executing" && data.node === null);
/** Progress may be omitted; every other message reaches both. */
const steps = (received: readonly Received[], id: string) => eventsOfJob(received, id).filter(({ type }) => !type.startsWith("progress"));

/** Outputs a picture immediately, then waits in a node. */
/** Its first two outputs are equal. */
const slowAfterFirstOutput = (seconds: number): Json => ({
  ...canvas(0x1f2f3f, 48),
  "1": { class_type: "EmptyImage", inputs: { width: 48, height: 48, batch_size: 2, color: 0x1f2f3f } },
  "3": { class_type: "Wait", inputs: { seconds, anything: ["1", 0] } },
  "4": { class_type: "SaveImage", inputs: { images: ["3", 0], filename_prefix: "late" } },
});

it("reports a job alike at both services, wherever it runs", async () => {
  const both = await listeners();
  const { first, second } = await two.clients();
  for (const client of [first, second]) {
    const id = await submit(client, waitGraph(0.5, client === first ? 1 : 2));
    await until("both got its end", () => both.every((received) => isOver(received, id)));
    const [at = [], otherReceived = []] = both;
    expect(steps(otherReceived, id)).toEqual(steps(at, id));
    expect(steps(at, id).map(({ type }) => type)).toEqual([
      ...["execution_start", "execution_cached", "executing", "executing", "executing", "executed", "execution_success", "executing"],
    ]);
    for (const received of both) {
      expect(eventsOfJob(received, id).filter(({ type }) => type === "progress").length).toBeGreaterThan(0);
      await until("the queue is told to be empty", () =>
        JSON.stringify(received.findLast(({ type }) => type === "status")?.data).includes(":0"),
      );
    }
  }
});

it("reports a cancelled job once as interrupted at both services", async () => {
  const both = await listeners();
  const clients = await two.clients();
  for (const client of [clients.first, clients.second]) {
    const id = await submit(clients.first, waitGraph(3600, client === clients.first ? 1 : 2));
    await until("both know that it runs", () =>
      both.every((received) => eventsOfJob(received, id).some(({ type }) => type === "executing")),
    );
    await client.post(`/api/jobs/${id}/cancel`);
    await until("both got its end", () => both.every((received) => isOver(received, id)));
    for (const received of both) expect(eventsOfJob(received, id).filter(({ type }) => type === "execution_interrupted")).toHaveLength(1);
  }
});

/** The address of the first picture of a running job. */
async function finishedOutput(received: readonly Received[], id: string): Promise<{ address: string; filename: string }> {
  const executed = () => eventsOfJob(received, id).find(({ type }) => type === "executed");
  await until("the first picture is told", executed);
  const [item] = asRecord(asRecord(executed()?.data).output).images as { filename: string }[];
  const filename = item?.filename ?? "";
  return { address: `/api/view?filename=${filename}&type=output`, filename };
}

async function expectSamePicture(clients: readonly Client[], address: string): Promise<void> {
  const pictures = await Promise.all(clients.map(async (client) => Buffer.from(await (await client.raw("GET", address)).arrayBuffer())));
  for (const picture of pictures)
    expect([picture.subarray(1, 4).toString(), picture.equals(pictures[0] ?? Buffer.alloc(0))]).toEqual(["PNG", true]);
}

it("serves progress and live pictures from both services", async () => {
  const [received = []] = await listeners();
  const { first, second } = await two.clients();
  const id = await submit(first, slowAfterFirstOutput(3600));
  const { address, filename } = await finishedOutput(received, id);
  await expectSamePicture([first, second], address);
  for (const client of [first, second]) {
    const small = await client.get(`${address}&res=64`);
    expect([small.status, small.headers.get("content-type")]).toEqual([200, "image/webp"]);
    await until("its progress is shown", async () => Number(asRecord((await readJob(client, id)).progress ?? {}).nodes_done) === 2);
    const json = asRecords(asRecord((await client.get("/api/jobs")).body).jobs).find((job) => job.id === id);
    expect(asRecord(json?.progress)).toMatchObject({ nodes_total: 4, nodes_done: 2, current_node: "3" });
  }
  const eve = await two.clients("eve");
  for (const client of [eve.first, eve.second]) expect((await client.get(address)).status).toBe(404);

  await second.post(`/api/jobs/${id}/cancel`);
  for (const client of [first, second]) await waitForEnd(client, id);
  for (const client of [first, second])
    await until("a cancelled job keeps nothing", async () => (await client.get(address)).status === 404);
  const blobs = join(two.first.settings.blobs?.kind === "folder" ? two.first.settings.blobs.path : "", "blake3-v1");
  const exists = async () =>
    (await readdir(blobs, { recursive: true })).some((path) => path.length > 60 && filename.includes(path.slice(3)));
  await until("its bytes are gone", async () => !(await exists()));
});

it("serves live pictures by a bucket and drops deleted copies", async () => {
  const s3 = await startStrictS3();
  await two.dispose();
  two = await startTwoServices({ concurrency: 1, ...bucketSettings(s3) });
  const [received = []] = await listeners();
  const { first, second } = await two.clients();
  const id = await submit(first, slowAfterFirstOutput(3600));
  await expectSamePicture([first, second], (await finishedOutput(received, id)).address);
  await second.post(`/api/jobs/${id}/cancel`);

  const asset = asString(asRecord((await first.upload(png(64, 64), "p.png")).body).id);
  const { asset_hash: hash } = asRecord((await second.get(`/api/assets/${asset}`)).body);
  expect((await second.get(`/api/view?filename=${asString(hash)}.png&res=64`)).status).toBe(200);
  const countNotices = async () =>
    (await Promise.all(["blob-copies", "thumbnails"].map((name) => readdir(join(two.second.folder, name), { recursive: true }))))
      .flat()
      .filter((path) => path.length > 60 && asString(hash).includes(path.slice(3, 60)));
  expect(await countNotices()).not.toEqual([]);
  await first.call("DELETE", `/api/assets/${asset}`);
  await two.second.service.stop();
  await two.second.service.start();
  await until("it has looked through them", async () => (await countNotices()).length === 0);
});

it("keeps bytes stored by one service while the other sweeps", async () => {
  const { first, second } = await two.clients();
  let isOver = false;
  const restarting = (async () => {
    for (let round = 0; round < 4; round += 1) {
      await two.first.service.stop();
      await two.first.service.start();
    }
    isOver = true;
  })();
  const hashes: string[] = [];
  for (let at = 0; !isOver || at < 20; at += 1) {
    const text = `of number ${at} `.repeat(500);
    const id = asString(asRecord((await second.upload(text, `${at}.txt`)).body).id);
    if (at % 3 === 0) {
      await second.call("DELETE", `/api/assets/${id}`);
      // The same bytes are uploaded while they are being removed.
      hashes.push(asString(asRecord((await second.upload(text, `${at}.txt`)).body).id));
    } else hashes.push(id);
  }
  await restarting;
  for (const id of hashes) expect((await first.get(`/api/assets/${id}/content`)).status).toBe(200);
});

it("serves user files, assets and their changes from both services", async () => {
  const { first, second } = await two.clients();
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

  const asset = asString(asRecord((await first.upload(png(64, 64), "p.png")).body).id);
  expect((await second.get(`/api/assets/${asset}/content`)).status).toBe(200);
  await until("its time of access is known here", async () => {
    const [firstAsset, secondAsset] = await Promise.all(
      [first, second].map(async (client) => asRecord((await client.get(`/api/assets/${asset}`)).body)),
    );
    return firstAsset?.last_access_time === secondAsset?.last_access_time;
  });
  expect((await second.call("DELETE", `/api/assets/${asset}`)).status).toBe(204);
  expect((await first.get(`/api/assets/${asset}`)).status).toBe(404);
});

it("applies revoked keys and quotas to both services", async () => {
  const { first, second } = await two.clients();
  await first.upload("x".repeat(5000), "a.txt");
  await second.upload("y".repeat(6000), "b.txt");
  const { prefix, key } = await two.second.service.keys.createKey("ada");
  const user = { "x-api-key": key };
  expect((await two.first.service.fetch(new Request("http://service.test/api/user", { headers: user }))).status).toBe(200);
  await two.first.service.keys.revokeKey(prefix);
  for (const { service } of [two.first, two.second])
    expect((await service.fetch(new Request("http://service.test/api/user", { headers: user }))).status).toBe(401);
  expect(await queryDatabase(two.url, "SELECT bytes::integer FROM lightdesk_service.user_storage")).toEqual([{ bytes: 11_000 }]);
});

it("refuses a second service with its own files", async () => {
  const { databaseUrl, workerPath, shippedImagesDir } = two.first.settings;
  const dataDir = temporaryFolder();
  const third = createService({ dataDir, workerPath, shippedImagesDir, ...(databaseUrl !== undefined && { databaseUrl }) });
  await expect(third.start()).rejects.toThrow(/are in another data folder .* set LIGHTDESK_BLOBS/);
});

it("clears the history at both services with its rows", async () => {
  const { first, second } = await two.clients();
  for (let color = 1; color <= 4; color += 1) await waitForEnd(first, await submit(first, canvas(color)));
  for (const client of [second, first]) {
    expect((await client.post("/api/history", { clear: true })).status).toBe(200);
    for (const item of [first, second]) expect((await item.get("/api/jobs")).body).toMatchObject({ jobs: [], pagination: { total: 0 } });
    const rows = () => queryDatabase<{ n: number }>(two.url, "SELECT count(*)::integer AS n FROM lightdesk_service.jobs");
    await until("the rows are gone", async () => (await rows())[0]?.n === 0);
    await waitForEnd(second, await submit(second, canvas(9)));
  }
});
