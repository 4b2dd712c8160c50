import { Blake3Hasher } from "@napi-rs/blake-hash";
import { describe, expect, it } from "vitest";
import { createHashPool, type HashWorker } from "@/lib/browser/uploads/asset-from-hash";
import { hashFile, SLICE_BYTES } from "@/lib/browser/uploads/hash-file";
import { type HashWorkerResponse } from "@/lib/browser/uploads/hash-worker";
import { addSample, getMaxHashBytes, isWorthHashing, type Speeds } from "@/lib/browser/uploads/upload";
import { createPattern } from "@/tests/support/file-source";

const hashNatively = (bytes: Uint8Array) => new Blake3Hasher().update(bytes).digest("hex");
const createSignal = () => ({ aborted: false });

/** Creates a blob that records the size of each slice that is read. */
function createWatchedBlob(bytes: Uint8Array<ArrayBuffer>) {
  const blob = new Blob([bytes]);
  const slices: number[] = [];
  const slice = blob.slice.bind(blob);
  blob.slice = (from, to, type) => {
    const part = slice(from, to, type);
    slices.push(part.size);
    return part;
  };
  return { blob, slices };
}

describe("the hash of a file", () => {
  it.each([0, SLICE_BYTES, SLICE_BYTES + 1, 3 * SLICE_BYTES + 17])("is correct for %i bytes read in slices", async (size) => {
    const bytes = new Uint8Array(createPattern(size));
    const { blob, slices } = createWatchedBlob(bytes);
    const progressOffsets: number[] = [];
    expect(await hashFile(blob, { signal: createSignal(), onProgress: (offset) => progressOffsets.push(offset) })).toEqual({
      kind: "hashed",
      hash: hashNatively(bytes),
    });
    expect(Math.max(0, ...slices)).toBeLessThanOrEqual(SLICE_BYTES);
    expect(progressOffsets.at(-1) ?? 0).toBe(size);
  });

  it("is the same when interrupted and resumed", async () => {
    const bytes = new Uint8Array(createPattern(3 * SLICE_BYTES + 5));
    const stop = { aborted: false };
    const first = await hashFile(new Blob([bytes]), { signal: stop, onProgress: () => (stop.aborted = true) });
    if (first.kind !== "stopped") throw new Error(`Expected a stopped hash (got "${first.kind}").`);
    expect(first.at.offset).toBe(SLICE_BYTES);
    const { blob, slices } = createWatchedBlob(bytes);
    expect(await hashFile(blob, { from: first.at, signal: createSignal() })).toEqual({ kind: "hashed", hash: hashNatively(bytes) });
    expect(slices.reduce((sum, size) => sum + size, 0)).toBe(bytes.length - SLICE_BYTES);
  });

  it("fails when the file can't be read or became shorter", async () => {
    const blob = new Blob(["abc"]);
    blob.slice = () => Object.assign(new Blob(), { arrayBuffer: () => Promise.reject(new DOMException("gone", "NotReadableError")) });
    expect(await hashFile(blob, { signal: createSignal() })).toEqual({ kind: "unreadable" });
    const truncatedBlob = new Blob(["abc"]);
    truncatedBlob.slice = () => new Blob();
    expect(await hashFile(truncatedBlob, { signal: createSignal() })).toEqual({ kind: "unreadable" });
  });
});

describe("hash workers", () => {
  function createTestPool() {
    type TestWorker = HashWorker & { messages: unknown[]; isTerminated: boolean };
    const workers: TestWorker[] = [];
    const hash = createHashPool(() => {
      const worker: TestWorker = {
        messages: [],
        isTerminated: false,
        onmessage: null,
        onerror: null,
        postMessage: (message) => void worker.messages.push(message),
        terminate: () => (worker.isTerminated = true),
      };
      workers.push(worker);
      return worker;
    });
    return { hash, workers };
  }
  const file = new Blob(["abc"]);
  const start = (hash: ReturnType<typeof createHashPool>, { signal } = new AbortController()) => hash(file, { signal });
  const finish = (worker: HashWorker | undefined, data: HashWorkerResponse) => worker?.onmessage?.(new MessageEvent("message", { data }));

  it("are reused after their file is hashed or stopped", async () => {
    const { hash, workers } = createTestPool();
    const first = start(hash);
    const abortController = new AbortController();
    const second = start(hash, abortController);
    expect(workers).toHaveLength(2);
    finish(workers[0], { id: 1, outcome: { kind: "hashed", hash: "aa" } });
    expect(await first).toEqual({ kind: "hashed", hash: "aa" });
    abortController.abort();
    expect(workers[1]?.messages.at(-1)).toEqual({ id: 2, stop: true });
    const at = { offset: 0, state: new Uint8Array() };
    finish(workers[1], { id: 2, outcome: { kind: "stopped", at } });
    expect(await second).toEqual({ kind: "stopped", at });
    void start(hash);
    expect(workers).toHaveLength(2);
  });

  it("report when they are unavailable, and are replaced when broken", async () => {
    const hashWithoutWorkers = createHashPool(() => {
      throw new Error("no workers here");
    });
    expect(await start(hashWithoutWorkers)).toEqual({ kind: "unavailable" });
    const { hash, workers } = createTestPool();
    const brokenResult = start(hash);
    finish(workers[0], { id: 1, broken: true });
    expect(await brokenResult).toEqual({ kind: "unavailable" });
    expect(workers[0]?.isTerminated).toBe(true);
    void start(hash);
    expect(workers).toHaveLength(2);
  });
});

describe("measured speeds", () => {
  const GIB = 1024 ** 3;
  const createSpeeds = (hash: number, send: number): Speeds => {
    const hashSpeed = addSample({}, "hash", { bytes: hash * 1000 * 1024, ms: 1000 });
    return addSample(hashSpeed, "send", { bytes: send * 1000 * 1024, ms: 1000 });
  };

  it("are used only when both were measured long enough", () => {
    expect(isWorthHashing(GIB, {})).toBe(true);
    expect(isWorthHashing(GIB, addSample({}, "hash", { bytes: GIB, ms: 1000 }))).toBe(true);
    expect(addSample({}, "send", { bytes: 1000, ms: 1 })).toEqual({});
    expect(getMaxHashBytes({})).toBeUndefined();
  });

  it("make hashing first worthwhile when it is faster or takes under a second", () => {
    expect(isWorthHashing(100 * GIB, createSpeeds(500, 100))).toBe(true);
    expect(isWorthHashing(GIB, createSpeeds(50, 100))).toBe(false);
    expect(isWorthHashing(10 * 1024 ** 2, createSpeeds(50, 100))).toBe(true);
    const maxBytes = getMaxHashBytes(createSpeeds(50, 100)) ?? 0;
    expect([isWorthHashing(maxBytes, createSpeeds(50, 100)), isWorthHashing(maxBytes + 100, createSpeeds(50, 100))]).toEqual([true, false]);
  });

  it("adapt to a changed upload speed", () => {
    let speeds = createSpeeds(200, 100);
    for (let index = 0; index < 10; index++) speeds = addSample(speeds, "send", { bytes: 1000 * 1000 * 1024, ms: 1000 });
    expect(isWorthHashing(GIB, speeds)).toBe(false);
  });
});
