import { Blake3Hasher } from "@napi-rs/blake-hash";
import { describe, expect, it } from "vitest";
import { hashFile, SLICE_BYTES } from "@/lib/browser/uploads/hash-file";
import { createHashPool, type HashWorker } from "@/lib/browser/uploads/offer-hash";
import { addSample, getMaxHashBytes, isWorthHashing, type Speeds } from "@/lib/browser/uploads/upload";
import { createPattern } from "@/tests/support/file-source";

const natively = (bytes: Uint8Array) => new Blake3Hasher().update(bytes).digest("hex");
const signal = () => ({ aborted: false });

/** A file that records how much is read of it at a time. */
function watch(bytes: Uint8Array<ArrayBuffer>) {
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
  it.each([0, 1, SLICE_BYTES - 1, SLICE_BYTES, SLICE_BYTES + 1, 3 * SLICE_BYTES + 17])(
    "matches the hash of its %i bytes, read slice by slice",
    async (size) => {
      const bytes = new Uint8Array(createPattern(size));
      const { blob, slices } = watch(bytes);
      const shares: number[] = [];
      expect(await hashFile(blob, { signal: signal(), onProgress: (at) => shares.push(at) })).toEqual({
        kind: "hashed",
        hash: natively(bytes),
      });
      expect(Math.max(0, ...slices)).toBeLessThanOrEqual(SLICE_BYTES);
      expect(shares.at(-1) ?? 0).toBe(size);
    },
  );

  it("is the same when interrupted and resumed", async () => {
    const bytes = new Uint8Array(createPattern(3 * SLICE_BYTES + 5));
    const stop = { aborted: false };
    const first = await hashFile(new Blob([bytes]), { signal: stop, onProgress: () => (stop.aborted = true) });
    if (first.kind !== "stopped") throw new Error(`it was ${first.kind}`);
    expect(first.at.offset).toBe(SLICE_BYTES);
    const { blob, slices } = watch(bytes);
    expect(await hashFile(blob, { from: first.at, signal: signal() })).toEqual({ kind: "hashed", hash: natively(bytes) });
    expect(slices.reduce((sum, size) => sum + size, 0)).toBe(bytes.length - SLICE_BYTES);
  });

  it("is undefined when the file can't be read or became shorter", async () => {
    const blob = new Blob(["abc"]);
    blob.slice = () => Object.assign(new Blob(), { arrayBuffer: () => Promise.reject(new DOMException("gone", "NotReadableError")) });
    expect(await hashFile(blob, { signal: signal() })).toEqual({ kind: "unreadable" });
    const cut = new Blob(["abc"]);
    cut.slice = () => new Blob();
    expect(await hashFile(cut, { signal: signal() })).toEqual({ kind: "unreadable" });
  });
});

describe("hash workers", () => {
  function pool() {
    const workers: (HashWorker & { sent: unknown[]; isOver: boolean })[] = [];
    const hash = createHashPool(() => {
      const worker: HashWorker & { sent: unknown[]; isOver: boolean } = {
        sent: [],
        isOver: false,
        onmessage: null,
        onerror: null,
        postMessage: (message) => void worker.sent.push(message),
        terminate: () => (worker.isOver = true),
      };
      workers.push(worker);
      return worker;
    });
    return { hash, made: workers };
  }
  const file = new Blob(["abc"]);

  it("are reused, one file at a time, and stopped", async () => {
    const { hash, made } = pool();
    const first = hash(file, { signal: new AbortController().signal });
    const stopped = new AbortController();
    const second = hash(file, { signal: stopped.signal });
    expect(made).toHaveLength(2);
    made[0]?.onmessage?.(new MessageEvent("message", { data: { id: 1, outcome: { kind: "hashed", hash: "aa" } } }));
    expect(await first).toEqual({ kind: "hashed", hash: "aa" });
    stopped.abort();
    expect(made[1]?.sent.at(-1)).toEqual({ id: 2, stop: true });
    const at = { offset: 0, state: new Uint8Array() };
    made[1]?.onmessage?.(new MessageEvent("message", { data: { id: 2, outcome: { kind: "stopped", at } } }));
    expect(await second).toEqual({ kind: "stopped", at });
    void hash(file, { signal: new AbortController().signal });
    expect(made).toHaveLength(2);
  });

  it("report missing or broken workers and stop using them", async () => {
    const none = createHashPool(() => {
      throw new Error("no workers here");
    });
    expect(await none(file, { signal: new AbortController().signal })).toEqual({ kind: "unavailable" });
    const { hash, made } = pool();
    const broken = hash(file, { signal: new AbortController().signal });
    made[0]?.onmessage?.(new MessageEvent("message", { data: { id: 1, broken: true } }));
    expect(await broken).toEqual({ kind: "unavailable" });
    expect(made[0]?.isOver).toBe(true);
    void hash(file, { signal: new AbortController().signal });
    expect(made).toHaveLength(2);
  });
});

describe("measured speeds", () => {
  const GIB = 1024 ** 3;
  const createSpeeds = (hash: number, send: number): Speeds => {
    const once = addSample({}, "hash", { bytes: hash * 1000 * 1024, ms: 1000 });
    return addSample(once, "send", { bytes: send * 1000 * 1024, ms: 1000 });
  };

  it("decide only when both were measured long enough", () => {
    expect(isWorthHashing(GIB, {})).toBe(true);
    expect(isWorthHashing(GIB, addSample({}, "hash", { bytes: GIB, ms: 1000 }))).toBe(true);
    expect(addSample({}, "send", { bytes: 1000, ms: 1 })).toEqual({});
    expect(getMaxHashBytes({})).toBeUndefined();
  });

  it("hash first when faster or under a second", () => {
    expect(isWorthHashing(100 * GIB, createSpeeds(500, 100))).toBe(true);
    expect(isWorthHashing(GIB, createSpeeds(50, 100))).toBe(false);
    expect(isWorthHashing(10 * 1024 ** 2, createSpeeds(50, 100))).toBe(true);
    const maxBytes = getMaxHashBytes(createSpeeds(50, 100)) ?? 0;
    expect([isWorthHashing(maxBytes, createSpeeds(50, 100)), isWorthHashing(maxBytes + 100, createSpeeds(50, 100))]).toEqual([true, false]);
  });

  it("follow a line that changes", () => {
    let speeds = createSpeeds(200, 100);
    for (let at = 0; at < 10; at++) speeds = addSample(speeds, "send", { bytes: 1000 * 1000 * 1024, ms: 1000 });
    expect(isWorthHashing(GIB, speeds)).toBe(false);
  });
});
