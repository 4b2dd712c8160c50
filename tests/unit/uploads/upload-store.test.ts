import { describe, expect, it } from "vitest";
import { cannotChange, countUploads, filterItems, getTone, otherName } from "@/components/transfers/uploads/upload-state";
import { failed, ok } from "@/lib/shared/result";
import { until } from "@/tests/support/until";
import { defaultFields, getHash, line, refused, storedResult, toHashed, unknownHash } from "./upload-line";

describe("the queue", () => {
  it("sends three at a time in the selected order", async () => {
    const { add, answer, kinds } = line();
    add("a", "b", "c", "d");
    await until("three are hashed", () => kinds().filter((kind) => kind.endsWith("hashing")).length === 3);
    expect(kinds()[3]).toBe("d waiting");
    await answer("hash", toHashed("a"));
    await answer("fromHash", storedResult());
    await until("d is begun", () => kinds()[3] === "d hashing");
    expect(kinds()[0]).toBe("a done");
  });

  it("pauses a file while hashing without losing progress", async () => {
    const { add, answer, item, store, waiting } = line();
    add("a");
    const [call] = await until("it is hashed", () => (waiting("hash").length === 1 ? waiting("hash") : undefined));
    store.pause(item().key);
    expect(item().status).toEqual({ kind: "paused", isLost: false });
    expect(call?.signal.aborted).toBe(true);
    await answer("hash", { kind: "stopped", at: { offset: 1, state: new Uint8Array([7]) } });
    await until("the place is kept", () => item().hashedTo !== undefined);
    expect(item().status).toEqual({ kind: "paused", isLost: false });
    store.again(item().key);
    const second = await answer("hash", toHashed("a"));
    expect(second.from).toBe(1);
  });

  it("restarts a cut upload after a lookup and drops old progress", async () => {
    const { add, answer, item, store, waiting } = line();
    add("a");
    await answer("hash", toHashed("a"));
    await answer("fromHash", unknownHash);
    const [sending] = await until("it is sent", () => (waiting("send").length === 1 ? waiting("send") : undefined));
    store.pause(item().key);
    expect(sending?.signal.aborted).toBe(true);
    sending?.progress?.(1);
    await answer("send", refused(0, "ABORTED"));
    expect(item().status).toEqual({ kind: "paused", isLost: true });
    store.again(item().key);
    await answer("byId", refused(404, "NOT_FOUND"));
    await answer("fromHash", unknownHash);
    await until("it is sent anew", () => item().status.kind === "sending");
  });

  it("starts nothing while paused and resumes where it stopped", async () => {
    const { add, kinds, store, answer } = line();
    add("a", "b", "c", "d");
    await until("three are hashed", () => kinds().filter((kind) => kind.endsWith("hashing")).length === 3);
    store.pauseAll();
    expect(kinds()).toEqual(["a paused", "b paused", "c paused", "d paused"]);
    add("e");
    expect(kinds()[4]).toBe("e waiting");
    store.resumeAll();
    for (const name of ["a", "b", "c"])
      await answer("hash", { kind: "stopped", at: { offset: 0, state: new Uint8Array() } }).then(() => name);
    await until("three are on their way again", () => kinds().filter((kind) => kind.endsWith("hashing")).length === 3);
    expect(kinds()[3]).toBe("d waiting");
  });

  it("closes a removed file's connection and ignores late responses", async () => {
    const { add, answer, item, kinds, store, waiting, announced } = line();
    add("a", "b", "c", "d");
    await answer("hash", toHashed("a"));
    await answer("fromHash", unknownHash);
    const [sending] = await until("a is sent", () => (waiting("send").length === 1 ? waiting("send") : undefined));
    store.remove(item().key);
    expect(sending?.signal.aborted).toBe(true);
    await answer("send", storedResult());
    await until("d has a's place", () => kinds().join() === "b hashing,c hashing,d hashing");
    expect(announced).toEqual([]);
  });

  it("cancels what is not stored and keeps the rest", async () => {
    const { add, answer, item, kinds, store } = line();
    add("a", "b", "c", "d", "e");
    await answer("hash", toHashed("a"));
    await answer("fromHash", storedResult());
    await until("a is done", () => item().status.kind === "done");
    store.cancelAll();
    expect(kinds()).toEqual(["a done"]);
  });

  it("weighs progress by bytes", async () => {
    const { add, answer, store, waiting } = line();
    add("a film of nineteen", "x");
    await answer("hash", toHashed("a film of nineteen"));
    await answer("hash", toHashed("x"));
    await answer("fromHash", unknownHash);
    await answer("fromHash", storedResult());
    await until("the film is sent", () => waiting("send").length === 1 && store.get().items[1]?.status.kind === "done");
    waiting("send")[0]?.progress?.(0.5);
    // The sizes are 18 and 1 bytes, plus one for each file as a step of its own.
    expect(countUploads(store.get().items).share).toBeCloseTo((19 * 0.5 + 2) / 21);
  });

  it("removes only failed files from the list with one click", async () => {
    const { add, answer, kinds, store } = line();
    add("a", "b", "c");
    await answer("hash", { kind: "unreadable" });
    await answer("hash", toHashed("b"));
    await answer("fromHash", storedResult());
    await until("two are through", () => kinds().slice(0, 2).join() === "a failed,b done");
    store.dropFailed();
    expect(kinds()).toEqual(["b done", "c hashing"]);
  });

  it("tries all failed ones again with one press", async () => {
    const { add, answer, kinds, store } = line();
    add("a", "b");
    await answer("hash", toHashed("a"));
    await answer("hash", toHashed("b"));
    await answer("fromHash", refused(401, "UNAUTHORIZED"));
    await answer("fromHash", refused(401, "UNAUTHORIZED"));
    await until("both have failed", () => kinds().join() === "a failed,b failed");
    store.retryAll();
    await answer("fromHash", storedResult());
    await answer("fromHash", storedResult());
    await until("both are done", () => kinds().join() === "a done,b done");
  });

  it("stores an unreadable picture and marks it", async () => {
    const { add, answer, item, store } = line();
    add("broken.png", "good.png", "notes.txt");
    for (const name of ["broken.png", "good.png", "notes.txt"]) {
      await answer("hash", toHashed(name));
      await answer("fromHash", storedResult());
    }
    await answer("canBeRead", false);
    await answer("canBeRead", true);
    await until("it is judged", () => item().isNoPicture);
    expect(countUploads(store.get().items)).toMatchObject({ stored: 3, problems: 0, noPictures: 1 });
    expect(store.get().items.map((item) => getTone(item))).toEqual(["unknown", "ok", "ok"]);
    expect(filterItems(store.get().items, "noPictures").map(({ file }) => file.name)).toEqual(["broken.png"]);
  });

  it("uses another id when the service refuses the first one", async () => {
    const { add, answer, item, store } = line();
    add("a");
    await answer("hash", toHashed("a"));
    await answer("fromHash", unknownHash);
    const first = await answer("send", refused(409, "ASSET_ID_UNAVAILABLE"));
    await until("it has failed", () => item().status.kind === "failed");
    store.again(item().key);
    await answer("fromHash", unknownHash);
    const second = await answer("send", storedResult());
    expect(second.what).not.toBe(first.what);
  });
});

const unwritten = (status: number, code: string) => failed({ parts: ["name"], failure: { code, message: "", status } });

describe("fields of an asset", () => {
  it("is sent with the bytes and not written again", async () => {
    const { store, answer, item, calls } = line();
    store.add([{ file: new File(["x"], "x"), assetFields: { ...defaultFields, previewId: "11111111-1111-4111-8111-111111111111" } }]);
    await answer("hash", toHashed("x"));
    await answer("fromHash", unknownHash);
    await answer("send", storedResult());
    await until("it is done", () => item().status.kind === "done");
    expect(calls).toEqual([]);
  });

  it("is written after creation by hash or a later edit", async () => {
    const { add, store, answer, item } = line();
    add("a");
    await answer("hash", toHashed("a"));
    await until("it is asked for", () => item().status.kind === "asking");
    store.describe(new Set([item().key]), (upload) => ({
      ...upload.assetFields,
      tags: ["input", "cats"],
      previewId: "11111111-1111-4111-8111-111111111111",
    }));
    await answer("fromHash", storedResult());
    const call = await answer("change", ok(undefined));
    expect(call.what).toContain('"addedTags":["cats"]');
    expect(call.what).toContain('"preview_id":"11111111');
    await until("it is written", () => item().changing === undefined);
  });

  it("is added to existing content without changing its name or tags", async () => {
    const { add, answer, item, store, waiting } = line();
    const existingAsset = storedResult({ created_new: false, name: "first.bin", tags: ["old", "input"], user_metadata: { shot: 1 } });
    add("again.bin");
    store.describe(new Set([item().key]), (upload) => ({ ...upload.assetFields, metadata: { roll: 2 } }));
    await answer("hash", toHashed("a"));
    await answer("fromHash", existingAsset);
    const { what } = await answer("change", ok(undefined));
    const changes = { addedTags: [], removedTags: [], fields: { user_metadata: { shot: 1, roll: 2 } } };
    expect(what).toBe(`asset-1 ${JSON.stringify(changes)}`);
    expect(item().assetFields).toEqual({ name: "", tags: ["old", "input"], metadata: { shot: 1, roll: 2 }, previewId: undefined });
    expect(otherName(item())).toBe("first.bin");
    // Until the user sets the file's own name.
    store.describe(new Set([item().key]), (upload) => ({ ...upload.assetFields, name: "again.bin" }));
    expect((await answer("change", ok(undefined))).what).toContain('"fields":{"name":"again.bin"}');
    await until("it is called so", () => otherName(item()) === undefined);
    expect(waiting("change")).toEqual([]);
  });

  it("renames existing content only when typed", async () => {
    const { add, answer, item, store, waiting } = line();
    const existingAsset = storedResult({ created_new: false, name: "first.bin", tags: ["input"], user_metadata: {} });
    add("a", "b");
    store.describe(new Set([item(1).key]), (upload) => ({ ...upload.assetFields, name: "Mine" }));
    for (const name of ["a", "b"]) {
      await answer("hash", toHashed(name));
      await answer("fromHash", existingAsset);
    }
    expect((await answer("change", ok(undefined))).what).toContain('"fields":{"name":"Mine"}');
    expect(waiting("change")).toEqual([]);
  });

  it("shows an unsupported field first and does not ask again", async () => {
    const { add, answer, item, store } = line();
    add("a");
    await answer("hash", toHashed("a"));
    await answer("fromHash", storedResult());
    await until("it is stored", () => getTone(item()) === "ok");
    expect(cannotChange(item())).toBe(false);
    store.describe(new Set([item().key]), (upload) => ({ ...upload.assetFields, name: "Mine" }));
    await answer("change", unwritten(405, "NOT_IMPLEMENTED"));
    await until("it is told", () => cannotChange(item()));
    expect(getTone(item())).toBe("unknown");
  });

  it("is written to a stored asset on request, with refusals at the file", async () => {
    const { add, store, answer, item } = line();
    add("a");
    await answer("hash", toHashed("a"));
    await answer("fromHash", storedResult());
    await until("it is done", () => item().status.kind === "done");
    store.describe(new Set([item().key]), (upload) => ({ ...upload.assetFields, name: "A cat" }));
    expect(item().changing).toBe("now");
    await answer("change", unwritten(405, "METHOD_NOT_ALLOWED"));
    await until("it was refused", () => typeof item().changing === "object");
    expect(item().assetFields.name).toBe("A cat");
  });
});

describe("measured speeds", () => {
  const big = () => new File([new Uint8Array(20 * 1024 * 1024)], "big");

  it("send large files first when hashing is slower, then compare", async () => {
    const { store, answer, item, tick, waiting } = line();
    store.add([{ file: big(), assetFields: defaultFields }]);
    await until("it is hashed", () => waiting("hash").length === 1);
    tick(20_000);
    await answer("hash", toHashed("big"));
    await answer("fromHash", unknownHash);
    await until("it is sent", () => waiting("send").length === 1);
    tick(500);
    await answer("send", storedResult({ asset_hash: getHash("big") }));
    await until("the first is done", () => item().status.kind === "done");
    store.add([{ file: big(), assetFields: defaultFields }]);
    await answer("send", storedResult({ asset_hash: getHash("big") }));
    expect(item(1).sentWhole).toBe("hashing-slower");
    await answer("hash", toHashed("big"));
    await until("the second is done", () => item(1).status.kind === "done");
    expect(item(1).status).toMatchObject({ check: { kind: "verified" } });
  });
});
