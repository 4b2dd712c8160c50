// Acknowledged data survives a power loss. Files are fsynced before they are renamed, and their folder and every new parent folder before
// the rows are committed. The order of disk calls shows that all of this precedes the response.
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
const diskCallLogPath = `${folder}.order`;
const source = await startFileSource(createPattern(200_000, 5));
const key = await createKey(folder, "ada");
const service = await startServiceProcess(folder, {
  LIGHTDESK_DOWNLOAD_HOSTS: source.url,
  LIGHTDESK_TEST_ORDER: diskCallLogPath,
  NODE_OPTIONS: `--import=${join(process.cwd(), "tests/faults/disk/record-disk-calls.mjs")}`,
});
const client = createHttpClient(service.url, key);
afterAll(async () => {
  expect(await service.stop()).toBe(0);
  rmSync(diskCallLogPath);
});

/** Returns the disk calls since the previous call. */
function readNewDiskCalls(): string[][] {
  const lines = readFileSync(diskCallLogPath, "utf8").trimEnd().split("\n");
  const newCalls = lines.slice(readCount).map((line) => line.split("\t"));
  readCount = lines.length;
  return newCalls;
}

/** Returns the blobs that were renamed into place. */
function findRenamedBlobs(calls: readonly string[][]): string[] {
  const renamedPaths = calls.flatMap(([operation, , to = ""]) => (operation === "named" && to.includes("/blobs/") ? [to] : []));
  return [...new Set(renamedPaths)];
}

/** Creates a solid-color PNG. `alpha` is from 0 to 1. */
async function createSolidImage(red: number, alpha: number): Promise<Uint8Array<ArrayBuffer>> {
  const picture = sharp({ create: { width: 8, height: 8, channels: 4, background: { r: red, g: 200, b: 30, alpha } } });
  return new Uint8Array(await picture.png().toBuffer());
}

/** Expects this order: write, sync of the bytes, rename, sync of the folder, commit. */
function expectDurable(newCalls: string[][], path: string): void {
  const findCall = (predicate: (call: string[]) => boolean) => newCalls.findIndex(predicate);
  const renameIndex = findCall(([operation, , to]) => operation === "named" && to === path);
  expect(renameIndex, `${path} was renamed`).toBeGreaterThanOrEqual(0);
  const from = newCalls[renameIndex]?.[1] ?? "";
  const syncIndex = newCalls.findLastIndex(
    ([operation, target], index) => index < renameIndex && operation === "synced" && target === from,
  );
  const writeIndex = newCalls.findLastIndex(([operation, target]) => operation === "written" && target === from);
  const folderSyncIndex = newCalls.findIndex(
    ([operation, target], index) => index > renameIndex && operation === "synced" && target === dirname(path),
  );
  expect(syncIndex, `${path} was synced before it was renamed`).toBeGreaterThan(writeIndex);
  expect(syncIndex, `${path} was synced`).toBeGreaterThanOrEqual(0);
  expect(folderSyncIndex, `the folder of ${path} was synced`).toBeGreaterThan(renameIndex);
  for (const [index, call] of newCalls.entries()) {
    if (call[0] !== "made" || !call[1] || !path.startsWith(`${call[1]}/`)) continue;
    const parentSyncIndex = newCalls.findIndex(
      ([operation, target], laterIndex) => laterIndex > index && operation === "synced" && target === dirname(call[1] ?? ""),
    );
    expect(parentSyncIndex, `the parent of the new folder ${call[1]} was synced`).toBeGreaterThan(index);
  }
}

function expectBlobsDurable(newCalls: string[][], count: number): void {
  const blobs = findRenamedBlobs(newCalls);
  expect(blobs).toHaveLength(count);
  for (const path of blobs) {
    expect(existsSync(path)).toBe(true);
    expectDurable(newCalls, path);
    const folderSyncIndex = newCalls.findIndex(([operation, target]) => operation === "synced" && target === dirname(path));
    expect(newCalls.findLastIndex(([operation]) => operation === "committing")).toBeGreaterThan(folderSyncIndex);
  }
}

it("syncs a new store's folders into their parents", () => {
  const newCalls = readNewDiskCalls();
  for (const [index, [operation, path = ""]] of newCalls.entries()) {
    if (operation !== "made" || path === "" || !path.startsWith(folder)) continue;
    const parentSyncIndex = newCalls.findIndex(
      ([call, target], laterIndex) => laterIndex > index && call === "synced" && target === dirname(path),
    );
    expect(parentSyncIndex, path).toBeGreaterThan(index);
  }
  expect(findRenamedBlobs(newCalls).length).toBeGreaterThan(0);
  for (const path of findRenamedBlobs(newCalls)) expectDurable(newCalls, path);
});

it("makes small and large uploads durable before responding", async () => {
  expect((await client.upload("some text", "a.txt")).status).toBe(201);
  expectBlobsDurable(readNewDiskCalls(), 1);
  expect((await client.upload(new Uint8Array(createPattern(20_000_000)), "b.bin")).status).toBe(201);
  expectBlobsDurable(readNewDiskCalls(), 1);
});

it("makes shared content durable before responding to other uploaders", async () => {
  const responses = await Promise.all(Array.from({ length: 8 }, () => client.upload("the same text", "same.txt")));
  expect(responses.map(({ status }) => status).sort()).toEqual([200, 200, 200, 200, 200, 200, 200, 201]);
  expectBlobsDurable(readNewDiskCalls(), 1);
});

it("makes new and overwritten user data durable before responding", async () => {
  const write = (text: string) => client.call("POST", "/api/userdata/x/y/z.json?overwrite=true&full_info=true", text);
  for (const text of ["{}", "[]"]) {
    expect((await write(text)).status).toBe(200);
    expectBlobsDurable(readNewDiskCalls(), 1);
  }
});

it("makes a download durable before its task completes", async () => {
  expect((await download(client, `${source.url}/model.bin`)).status).toBe("completed");
  expectBlobsDurable(readNewDiskCalls(), 1);
});

it("makes a mask and its layers durable before responding", async () => {
  const [picture, mask] = [await createSolidImage(10, 1), await createSolidImage(90, 0)];
  expect((await client.upload(picture, "p.png", {}, "image", "/api/upload/image")).status).toBe(200);
  readNewDiskCalls();
  const original = JSON.stringify({ filename: "p.png" });
  expect((await client.upload(mask, "m.png", { original_ref: original }, "image", "/api/upload/mask")).status).toBe(200);
  expectBlobsDurable(readNewDiskCalls(), 4);
});

it("makes a job's outputs durable before it completes", async () => {
  const image = { class_type: "EmptyImage", inputs: { width: 16, height: 16, batch_size: 2, color: 77 } };
  const prompt = { "1": image, "2": { class_type: "SaveImage", inputs: { images: ["1", 0], filename_prefix: "d" } } };
  expect((await waitForEnd(client, await submitGraph(client, prompt))).status).toBe("completed");
  expectBlobsDurable(readNewDiskCalls(), 1);
});
