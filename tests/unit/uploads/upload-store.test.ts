import { describe, expect, it } from "vitest";
import { countUploads, filterItems, getDifferentName, getTone, isChangeUnsupported } from "@/components/transfers/uploads/upload-state";
import { failed, ok } from "@/lib/shared/result";
import { until } from "@/tests/support/until";
import {
  createFailure,
  createHashedOutcome,
  createStoredResult,
  createUploadHarness,
  defaultFields,
  getHash,
  unknownHash,
} from "./upload-harness";

describe("the queue", () => {
  it("processes three files at a time in the selected order", async () => {
    const { add, respond, listKinds, waitForThreeHashing } = createUploadHarness();
    add("a", "b", "c", "d");
    await waitForThreeHashing();
    expect(listKinds()[3]).toBe("d waiting");
    await respond("hash", createHashedOutcome("a"));
    await respond("fromHash", createStoredResult());
    await until("d is started", () => listKinds()[3] === "d hashing");
    expect(listKinds()[0]).toBe("a done");
  });

  it("pauses a file while hashing without losing progress", async () => {
    const { add, respond, getItem, store, getPendingCalls } = createUploadHarness();
    add("a");
    const [call] = await until("it is hashed", () => (getPendingCalls("hash").length === 1 ? getPendingCalls("hash") : undefined));
    store.pause(getItem().key);
    expect(getItem().status).toEqual({ kind: "paused", hasLostProgress: false });
    expect(call?.signal.aborted).toBe(true);
    await respond("hash", { kind: "stopped", at: { offset: 1, state: new Uint8Array([7]) } });
    await until("the hash state is saved", () => getItem().hashCheckpoint !== undefined);
    expect(getItem().status).toEqual({ kind: "paused", hasLostProgress: false });
    store.retry(getItem().key);
    const second = await respond("hash", createHashedOutcome("a"));
    expect(second.from).toBe(1);
  });

  it("restarts an interrupted upload after a lookup", async () => {
    const { respond, getItem, store, getPendingCalls, addHashed, waitForKind } = createUploadHarness();
    await addHashed("a");
    const [sendCall] = await until("it is sent", () => (getPendingCalls("send").length === 1 ? getPendingCalls("send") : undefined));
    store.pause(getItem().key);
    expect(sendCall?.signal.aborted).toBe(true);
    sendCall?.progress?.(1);
    await respond("send", createFailure(0, "ABORTED"));
    expect(getItem().status).toEqual({ kind: "paused", hasLostProgress: true });
    store.retry(getItem().key);
    await respond("byId", createFailure(404, "NOT_FOUND"));
    await respond("fromHash", unknownHash);
    await waitForKind("sending");
  });

  it("starts nothing while paused and resumes where it stopped", async () => {
    const { add, listKinds, store, respond, waitForThreeHashing } = createUploadHarness();
    add("a", "b", "c", "d");
    await waitForThreeHashing();
    store.pauseAll();
    expect(listKinds()).toEqual(["a paused", "b paused", "c paused", "d paused"]);
    add("e");
    expect(listKinds()[4]).toBe("e waiting");
    store.resumeAll();
    for (const name of ["a", "b", "c"])
      await respond("hash", { kind: "stopped", at: { offset: 0, state: new Uint8Array() } }).then(() => name);
    await waitForThreeHashing();
    expect(listKinds()[3]).toBe("d waiting");
  });

  it("closes a removed file's connection and ignores late responses", async () => {
    const { add, respond, getItem, listKinds, store, getPendingCalls, storedIds } = createUploadHarness();
    add("a", "b", "c", "d");
    await respond("hash", createHashedOutcome("a"));
    await respond("fromHash", unknownHash);
    const [sendCall] = await until("a is sent", () => (getPendingCalls("send").length === 1 ? getPendingCalls("send") : undefined));
    store.remove(getItem().key);
    expect(sendCall?.signal.aborted).toBe(true);
    await respond("send", createStoredResult());
    await until("d is started", () => listKinds().join() === "b hashing,c hashing,d hashing");
    expect(storedIds).toEqual([]);
  });

  it("cancels unstored files and keeps stored ones", async () => {
    const { add, respond, listKinds, store, waitForKind } = createUploadHarness();
    add("a", "b", "c", "d", "e");
    await respond("hash", createHashedOutcome("a"));
    await respond("fromHash", createStoredResult());
    await waitForKind("done");
    store.cancelAll();
    expect(listKinds()).toEqual(["a done"]);
  });

  it("weights progress by bytes", async () => {
    const { add, respond, store, getPendingCalls } = createUploadHarness();
    add("large-file-18bytes", "x");
    await respond("hash", createHashedOutcome("large-file-18bytes"));
    await respond("hash", createHashedOutcome("x"));
    await respond("fromHash", unknownHash);
    await respond("fromHash", createStoredResult());
    await until("the large file is sent", () => getPendingCalls("send").length === 1 && store.get().items[1]?.status.kind === "done");
    getPendingCalls("send")[0]?.progress?.(0.5);
    // The sizes are 18 and 1 bytes. Each file also counts as one byte.
    expect(countUploads(store.get().items).share).toBeCloseTo((19 * 0.5 + 2) / 21);
  });

  it("removes only failed files from the list with one click", async () => {
    const { add, respond, listKinds, store } = createUploadHarness();
    add("a", "b", "c");
    await respond("hash", { kind: "unreadable" });
    await respond("hash", createHashedOutcome("b"));
    await respond("fromHash", createStoredResult());
    await until("two have ended", () => listKinds().slice(0, 2).join() === "a failed,b done");
    store.clearFailed();
    expect(listKinds()).toEqual(["b done", "c hashing"]);
  });

  it("retries all failed files at once", async () => {
    const { add, respond, listKinds, store } = createUploadHarness();
    add("a", "b");
    await respond("hash", createHashedOutcome("a"));
    await respond("hash", createHashedOutcome("b"));
    await respond("fromHash", createFailure(401, "UNAUTHORIZED"));
    await respond("fromHash", createFailure(401, "UNAUTHORIZED"));
    await until("both have failed", () => listKinds().join() === "a failed,b failed");
    store.retryAll();
    await respond("fromHash", createStoredResult());
    await respond("fromHash", createStoredResult());
    await until("both are done", () => listKinds().join() === "a done,b done");
  });

  it("stores an unreadable picture and marks it", async () => {
    const { add, respond, getItem, store } = createUploadHarness();
    add("broken.png", "good.png", "notes.txt");
    for (const name of ["broken.png", "good.png", "notes.txt"]) {
      await respond("hash", createHashedOutcome(name));
      await respond("fromHash", createStoredResult());
    }
    await respond("canBeRead", false);
    await respond("canBeRead", true);
    await until("the picture is checked", () => getItem().isUndecodable);
    expect(countUploads(store.get().items)).toMatchObject({ stored: 3, problems: 0, noPictures: 1 });
    expect(store.get().items.map((item) => getTone(item))).toEqual(["unknown", "ok", "ok"]);
    expect(filterItems(store.get().items, "noPictures").map(({ file }) => file.name)).toEqual(["broken.png"]);
  });

  it("uses another id when the service rejects the first one", async () => {
    const { respond, getItem, store, addHashed, waitForKind } = createUploadHarness();
    await addHashed("a");
    const first = await respond("send", createFailure(409, "ASSET_ID_UNAVAILABLE"));
    await waitForKind("failed");
    store.retry(getItem().key);
    await respond("fromHash", unknownHash);
    const second = await respond("send", createStoredResult());
    expect(second.label).not.toBe(first.label);
  });
});

const createPartialFailure = (status: number, code: string) => failed({ parts: ["name"], failure: { code, message: "", status } });

describe("fields of an asset", () => {
  it("are sent with the content and not written again", async () => {
    const { store, respond, calls, waitForKind } = createUploadHarness();
    store.add([{ file: new File(["x"], "x"), assetFields: { ...defaultFields, previewId: "11111111-1111-4111-8111-111111111111" } }]);
    await respond("hash", createHashedOutcome("x"));
    await respond("fromHash", unknownHash);
    await respond("send", createStoredResult());
    await waitForKind("done");
    expect(calls).toEqual([]);
  });

  it("are written after creation by hash, including later edits", async () => {
    const { add, store, respond, getItem, waitForKind } = createUploadHarness();
    add("a");
    await respond("hash", createHashedOutcome("a"));
    await waitForKind("asking");
    store.updateFields(new Set([getItem().key]), (upload) => ({
      ...upload.assetFields,
      tags: ["input", "cats"],
      previewId: "11111111-1111-4111-8111-111111111111",
    }));
    await respond("fromHash", createStoredResult());
    const call = await respond("change", ok(undefined));
    expect(call.label).toContain('"addedTags":["cats"]');
    expect(call.label).toContain('"preview_id":"11111111');
    await until("it is written", () => getItem().fieldsUpdate === undefined);
  });

  it("are added to existing content without changing its name or tags", async () => {
    const { add, respond, getItem, store, getPendingCalls } = createUploadHarness();
    const existingAsset = createStoredResult({ created_new: false, name: "first.bin", tags: ["old", "input"], user_metadata: { shot: 1 } });
    add("again.bin");
    store.updateFields(new Set([getItem().key]), (upload) => ({ ...upload.assetFields, metadata: { roll: 2 } }));
    await respond("hash", createHashedOutcome("a"));
    await respond("fromHash", existingAsset);
    const { label } = await respond("change", ok(undefined));
    const changes = { addedTags: [], removedTags: [], fields: { user_metadata: { shot: 1, roll: 2 } } };
    expect(label).toBe(`asset-1 ${JSON.stringify(changes)}`);
    expect(getItem().assetFields).toEqual({ name: "", tags: ["old", "input"], metadata: { shot: 1, roll: 2 }, previewId: undefined });
    expect(getDifferentName(getItem())).toBe("first.bin");
    // The name changes only when the user sets it.
    store.updateFields(new Set([getItem().key]), (upload) => ({ ...upload.assetFields, name: "again.bin" }));
    expect((await respond("change", ok(undefined))).label).toContain('"fields":{"name":"again.bin"}');
    await until("it is renamed", () => getDifferentName(getItem()) === undefined);
    expect(getPendingCalls("change")).toEqual([]);
  });

  it("rename existing content only when a name is typed", async () => {
    const { add, respond, getItem, store, getPendingCalls } = createUploadHarness();
    const existingAsset = createStoredResult({ created_new: false, name: "first.bin", tags: ["input"], user_metadata: {} });
    add("a", "b");
    store.updateFields(new Set([getItem(1).key]), (upload) => ({ ...upload.assetFields, name: "Mine" }));
    for (const name of ["a", "b"]) {
      await respond("hash", createHashedOutcome(name));
      await respond("fromHash", existingAsset);
    }
    expect((await respond("change", ok(undefined))).label).toContain('"fields":{"name":"Mine"}');
    expect(getPendingCalls("change")).toEqual([]);
  });

  it("are marked as unsupported after the first failure", async () => {
    const { respond, getItem, store, addHashed } = createUploadHarness();
    await addHashed("a", createStoredResult());
    await until("it is stored", () => getTone(getItem()) === "ok");
    expect(isChangeUnsupported(getItem())).toBe(false);
    store.updateFields(new Set([getItem().key]), (upload) => ({ ...upload.assetFields, name: "Mine" }));
    await respond("change", createPartialFailure(405, "NOT_IMPLEMENTED"));
    await until("it is marked", () => isChangeUnsupported(getItem()));
    expect(getTone(getItem())).toBe("unknown");
  });
});

describe("measured speeds", () => {
  const createBigFile = () => new File([new Uint8Array(20 * 1024 * 1024)], "big");

  it("cause large files to be sent before hashing when hashing is slower", async () => {
    const { store, respond, getItem, tick, getPendingCalls, waitForKind } = createUploadHarness();
    store.add([{ file: createBigFile(), assetFields: defaultFields }]);
    await until("it is hashed", () => getPendingCalls("hash").length === 1);
    tick(20_000);
    await respond("hash", createHashedOutcome("big"));
    await respond("fromHash", unknownHash);
    await until("it is sent", () => getPendingCalls("send").length === 1);
    tick(500);
    await respond("send", createStoredResult({ asset_hash: getHash("big") }));
    await waitForKind("done");
    store.add([{ file: createBigFile(), assetFields: defaultFields }]);
    await respond("send", createStoredResult({ asset_hash: getHash("big") }));
    expect(getItem(1).skipHashReason).toBe("hashing-slower");
    await respond("hash", createHashedOutcome("big"));
    await waitForKind("done", 1);
    expect(getItem(1).status).toMatchObject({ check: { kind: "verified" } });
  });
});
