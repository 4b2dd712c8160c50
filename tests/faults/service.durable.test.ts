// Acknowledged data survives a power loss: bytes are synced before they are named, and the file's folder and every new folder above
// it before the rows are committed. All of this happens before the response, as the order of disk calls shows.
import { existsSync, readFileSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import sharp from "sharp";
import { afterAll, expect, it } from "vitest";
import { startFileSource } from "@/tests/support/servers";
import { createTemporaryFolder } from "@/tests/support/temporary-folder";
import { download } from "../integration/service/downloads-support";
import { submitGraph, waitForEnd } from "../integration/service/support";
import { createPattern } from "../support/file-source";
import { createHttpClient, createKey, startServiceProcess } from "../support/service-process";

let readCount = 0;
const folder = createTemporaryFolder();
const orderPath = `${folder}.order`;
const source = await startFileSource(createPattern(200_000, 5));
const key = await createKey(folder, "ada");
const service = await startServiceProcess(folder, {
  LIGHTDESK_DOWNLOAD_HOSTS: source.url,
  LIGHTDESK_TEST_ORDER: orderPath,
  NODE_OPTIONS: `--import=${join(process.cwd(), "tests/faults/disk/record-disk-calls.mjs")}`,
});
const client = createHttpClient(service.url, key);
afterAll(async () => {
  expect(await service.stop()).toBe(0);
  rmSync(orderPath);
});

/** Returns the disk calls since the previous call. */
function takeNewSteps(): string[][] {
  const lines = readFileSync(orderPath, "utf8").trimEnd().split("\n");
  const newSteps = lines.slice(readCount).map((line) => line.split("\t"));
  readCount = lines.length;
  return newSteps;
}

/** Returns the blobs that were named in these steps. */
function findNamedBlobs(steps: readonly string[][]): string[] {
  const renamedPaths = steps.flatMap(([operation, , to = ""]) => (operation === "named" && to.includes("/blobs/") ? [to] : []));
  return [...new Set(renamedPaths)];
}

/** Creates a picture of one colour with this alpha, from 0 to 1. */
async function createPicture(red: number, alpha: number): Promise<Uint8Array<ArrayBuffer>> {
  const picture = sharp({ create: { width: 8, height: 8, channels: 4, background: { r: red, g: 200, b: 30, alpha } } });
  return new Uint8Array(await picture.png().toBuffer());
}

/** Expects this order: write, sync of the bytes, rename, sync of the folder, commit. */
function expectDurable(newSteps: string[][], path: string): void {
  const findStep = (predicate: (step: string[]) => boolean) => newSteps.findIndex(predicate);
  const renameIndex = findStep(([operation, , to]) => operation === "named" && to === path);
  expect(renameIndex, `${path} was named`).toBeGreaterThanOrEqual(0);
  const from = newSteps[renameIndex]?.[1] ?? "";
  const syncedAt = newSteps.findLastIndex(([operation, target], index) => index < renameIndex && operation === "synced" && target === from);
  const writtenAt = newSteps.findLastIndex(([operation, target]) => operation === "written" && target === from);
  const syncIndex = newSteps.findIndex(
    ([operation, target], index) => index > renameIndex && operation === "synced" && target === dirname(path),
  );
  expect(syncedAt, `${path} was synced before it was named`).toBeGreaterThan(writtenAt);
  expect(syncedAt, `${path} was synced at all`).toBeGreaterThanOrEqual(0);
  expect(syncIndex, `the folder of ${path} was synced`).toBeGreaterThan(renameIndex);
  for (const [index, step] of newSteps.entries()) {
    if (step[0] !== "made" || !step[1] || !path.startsWith(`${step[1]}/`)) continue;
    const inParent = newSteps.findIndex(
      ([operation, target], later) => later > index && operation === "synced" && target === dirname(step[1] ?? ""),
    );
    expect(inParent, `the new folder ${step[1]} was synced into the one above`).toBeGreaterThan(index);
  }
}

function expectBlobsDurable(newSteps: string[][], count: number): void {
  const blobs = findNamedBlobs(newSteps);
  expect(blobs).toHaveLength(count);
  for (const path of blobs) {
    expect(existsSync(path)).toBe(true);
    expectDurable(newSteps, path);
    const folderSynced = newSteps.findIndex(([operation, target]) => operation === "synced" && target === dirname(path));
    expect(newSteps.findLastIndex(([operation]) => operation === "committing")).toBeGreaterThan(folderSynced);
  }
}

it("syncs a new store's folders into their parents", () => {
  const newSteps = takeNewSteps();
  for (const [index, [operation, path = ""]] of newSteps.entries()) {
    if (operation !== "made" || path === "" || !path.startsWith(folder)) continue;
    const inParent = newSteps.findIndex(([call, target], later) => later > index && call === "synced" && target === dirname(path));
    expect(inParent, path).toBeGreaterThan(index);
  }
  expect(findNamedBlobs(newSteps).length).toBeGreaterThan(0);
  for (const path of findNamedBlobs(newSteps)) expectDurable(newSteps, path);
});

it("makes small and large uploads durable before responding", async () => {
  expect((await client.upload("some text", "a.txt")).status).toBe(201);
  expectBlobsDurable(takeNewSteps(), 1);
  expect((await client.upload(new Uint8Array(createPattern(20_000_000)), "b.bin")).status).toBe(201);
  expectBlobsDurable(takeNewSteps(), 1);
});

it("makes shared content durable before responding to other uploaders", async () => {
  const responses = await Promise.all(Array.from({ length: 8 }, () => client.upload("the same text", "same.txt")));
  expect(responses.map(({ status }) => status).sort()).toEqual([200, 200, 200, 200, 200, 200, 200, 201]);
  expectBlobsDurable(takeNewSteps(), 1);
});

it("makes new and overwritten user data durable before responding", async () => {
  const write = (text: string) => client.call("POST", "/api/userdata/x/y/z.json?overwrite=true&full_info=true", text);
  for (const text of ["{}", "[]"]) {
    expect((await write(text)).status).toBe(200);
    expectBlobsDurable(takeNewSteps(), 1);
  }
});

it("makes a download durable before its task completes", async () => {
  expect((await download(client, `${source.url}/model.bin`)).status).toBe("completed");
  expectBlobsDurable(takeNewSteps(), 1);
});

it("makes a mask and its layers durable before responding", async () => {
  const [picture, mask] = [await createPicture(10, 1), await createPicture(90, 0)];
  expect((await client.upload(picture, "p.png", {}, "image", "/api/upload/image")).status).toBe(200);
  takeNewSteps();
  const original = JSON.stringify({ filename: "p.png" });
  expect((await client.upload(mask, "m.png", { original_ref: original }, "image", "/api/upload/mask")).status).toBe(200);
  expectBlobsDurable(takeNewSteps(), 4);
});

it("makes a job's outputs durable before it completes", async () => {
  const image = { class_type: "EmptyImage", inputs: { width: 16, height: 16, batch_size: 2, color: 77 } };
  const prompt = { "1": image, "2": { class_type: "SaveImage", inputs: { images: ["1", 0], filename_prefix: "d" } } };
  expect((await waitForEnd(client, await submitGraph(client, prompt))).status).toBe("completed");
  expectBlobsDurable(takeNewSteps(), 1);
});
