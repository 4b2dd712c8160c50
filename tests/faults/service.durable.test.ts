// Acknowledged data survives a loss of power: bytes are synced before they get a name; the name's folder and every new folder above
// it are synced before the rows are committed; and all of it happens before the answer. Observed from outside, by the order of disk calls.
import { existsSync, readFileSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { startFileSource } from "@/tests/support/servers";
import { temporaryFolder } from "@/tests/support/temporary-folder";
import { createPattern } from "../support/file-source";
import { createKey, httpClient, startServiceProcess } from "../support/service-process";
import { until } from "../support/until";
import { blobsIn, painted } from "./disk/durable";

let offset = 0;
const order = () => `${folder}.order`;
const steps = () =>
  readFileSync(order(), "utf8")
    .trimEnd()
    .split("\n")
    .map((line) => line.split("\t"));

const folder = temporaryFolder();
const source = await startFileSource(createPattern(200_000, 5));
const key = await createKey(folder, "ada");
const service = await startServiceProcess(folder, {
  LIGHTDESK_DOWNLOAD_HOSTS: source.url,
  LIGHTDESK_TEST_ORDER: order(),
  NODE_OPTIONS: `--import=${join(process.cwd(), "tests/faults/disk/order.mjs")}`,
});
const client = httpClient(service.url, key);
afterAll(async () => {
  expect(await service.stop()).toBe(0);
  await source.close();
  for (const path of [folder, order()]) rmSync(path, { recursive: true, force: true });
});

/** The disk calls since the last time; `named` are the blobs among them. */
function sinceThen(): string[][] {
  const all = steps();
  const since = all.slice(offset);
  offset = all.length;
  return since;
}

/** In order: bytes, sync of the bytes, name, sync of the folder, commit. */
function expectDurable(since: string[][], path: string): void {
  const at = (predicate: (step: string[]) => boolean) => since.findIndex(predicate);
  const renameIndex = at(([operation, , to]) => operation === "named" && to === path);
  expect(renameIndex, `${path} was named`).toBeGreaterThanOrEqual(0);
  const from = since[renameIndex]?.[1] ?? "";
  const synced = since.findLastIndex(([operation, target], index) => index < renameIndex && operation === "synced" && target === from);
  const writtenAt = since.findLastIndex(([operation, target]) => operation === "written" && target === from);
  const syncIndex = since.findIndex(
    ([operation, target], index) => index > renameIndex && operation === "synced" && target === dirname(path),
  );
  expect(synced, `${path} was synced before it was named`).toBeGreaterThan(writtenAt);
  expect(synced, `${path} was synced at all`).toBeGreaterThanOrEqual(0);
  expect(syncIndex, `the folder of ${path} was synced`).toBeGreaterThan(renameIndex);
  for (const [index, step] of since.entries()) {
    if (step[0] !== "made" || !step[1] || !path.startsWith(`${step[1]}/`)) continue;
    const inParent = since.findIndex(
      ([operation, target], later) => later > index && operation === "synced" && target === dirname(step[1] ?? ""),
    );
    expect(inParent, `the new folder ${step[1]} was synced into the one above`).toBeGreaterThan(index);
  }
}

function expectBlobsDurable(since: string[][], count: number): void {
  const blobs = blobsIn(since);
  expect(blobs).toHaveLength(count);
  for (const path of blobs) {
    expect(existsSync(path)).toBe(true);
    expectDurable(since, path);
    const folderSynced = since.findIndex(([operation, target]) => operation === "synced" && target === dirname(path));
    expect(since.findLastIndex(([operation]) => operation === "committing")).toBeGreaterThan(folderSynced);
  }
}

it("syncs a new store's folders into their parents", () => {
  const since = sinceThen();
  for (const [index, [operation, path = ""]] of since.entries()) {
    if (operation !== "made" || path === "" || !path.startsWith(folder)) continue;
    const inParent = since.findIndex(([target, where], later) => later > index && target === "synced" && where === dirname(path));
    expect(inParent, path).toBeGreaterThan(index);
  }
  expect(blobsIn(since).length).toBeGreaterThan(0);
  for (const path of blobsIn(since)) expectDurable(since, path);
});

it("makes an upload durable before answering, small or large", async () => {
  expect((await client.upload("some text", "a.txt")).status).toBe(201);
  expectBlobsDurable(sinceThen(), 1);
  expect((await client.upload(new Uint8Array(createPattern(20_000_000)), "b.bin")).status).toBe(201);
  expectBlobsDurable(sinceThen(), 1);
});

it("makes shared content durable before a second uploader is answered", async () => {
  const answers = await Promise.all(Array.from({ length: 8 }, () => client.upload("the same text", "same.txt")));
  expect(answers.map(({ status }) => status).sort()).toEqual([200, 200, 200, 200, 200, 200, 200, 201]);
  expectBlobsDurable(sinceThen(), 1);
});

it("makes user data durable before responding, also when overwriting", async () => {
  const write = (text: string) => client.call("POST", "/api/userdata/x/y/z.json?overwrite=true&full_info=true", text);
  for (const text of ["{}", "[]"]) {
    expect((await write(text)).status).toBe(200);
    expectBlobsDurable(sinceThen(), 1);
  }
});

it("makes a download durable before its task completes", async () => {
  const response = await client.post("/api/assets/download", { source_url: `${source.url}/model.bin` });
  const { task_id: id } = response.body as { task_id: string };
  await until("it is here", async () => ((await client.get(`/api/tasks/${id}`)).body as { status: string }).status === "completed");
  expectBlobsDurable(sinceThen(), 1);
});

it("makes a mask and its layers durable before answering", async () => {
  const [picture, mask] = [await painted(10, 255), await painted(90, 0)];
  expect((await client.upload(picture, "p.png", {}, "image", "/api/upload/image")).status).toBe(200);
  sinceThen();
  const original = JSON.stringify({ filename: "p.png" });
  expect((await client.upload(mask, "m.png", { original_ref: original }, "image", "/api/upload/mask")).status).toBe(200);
  expectBlobsDurable(sinceThen(), 4);
});

it("makes a job's outputs durable before it completes", async () => {
  const image = { class_type: "EmptyImage", inputs: { width: 16, height: 16, batch_size: 2, color: 77 } };
  const prompt = { "1": image, "2": { class_type: "SaveImage", inputs: { images: ["1", 0], filename_prefix: "d" } } };
  const { prompt_id: id } = (await client.post("/api/prompt", { prompt })).body as { prompt_id: string };
  await until("it is done", async () => ((await client.get(`/api/jobs/${id}`)).body as { status: string }).status === "completed");
  expectBlobsDurable(sinceThen(), 1);
});
