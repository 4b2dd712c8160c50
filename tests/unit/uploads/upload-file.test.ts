import { describe, expect, it } from "vitest";
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

describe("an upload", () => {
  it("is hashed first and not sent when the service has the content", async () => {
    const { getItem, getPendingCalls, storedIds, addHashed, waitForKind } = createUploadHarness();
    const offered = await addHashed("cat.png", createStoredResult({ asset_hash: `blake3:${getHash("cat.png")}`, created_new: false }));
    expect(offered.label).toBe(`cat.png ${getHash("cat.png")}`);
    await waitForKind("done");
    expect(getItem().status).toMatchObject({ sentBytes: 0, check: { kind: "verified" } });
    expect(getPendingCalls("send")).toEqual([]);
    expect(storedIds).toEqual(["asset-1"]);
  });

  it("is sent with its own id when the hash is unknown, then verified", async () => {
    const { respond, getItem, addHashed, waitForKind } = createUploadHarness();
    await addHashed("cat.png");
    const call = await respond("send", createStoredResult({ asset_hash: getHash("cat.png") }));
    expect(call.label).toMatch(/^cat\.png [0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    await waitForKind("done");
    expect(getItem().status).toMatchObject({ sentBytes: 7, check: { kind: "verified" } });
  });

  it("stays in the list with an error when the stored file differs", async () => {
    const { respond, getItem, store, addHashed, waitForKind } = createUploadHarness();
    await addHashed("cat.png");
    await respond("send", createStoredResult({ asset_hash: `blake3:${getHash("another")}` }));
    await waitForKind("done");
    expect(getItem().status).toMatchObject({ check: { kind: "differs", serverHash: `blake3:${getHash("another")}` } });
    store.clearStored();
    expect(store.get().items).toHaveLength(1);
  });

  it("is not verified when the service returns a different hash or no hash", async () => {
    const { add, respond, listKinds, store } = createUploadHarness();
    add("a", "b");
    for (const name of ["a", "b"]) {
      await respond("hash", createHashedOutcome(name));
      await respond("fromHash", createFailure(400, "INVALID_HASH"));
    }
    await respond("send", createStoredResult({ asset_hash: `sha256:${getHash("a")}` }));
    await respond("send", createStoredResult());
    await until("both are done", () => listKinds().join() === "a done,b done");
    expect(store.get().items.map(({ status }) => status.kind === "done" && status.check)).toEqual([
      { kind: "unchecked", why: "other-hash" },
      { kind: "unchecked", why: "no-hash" },
    ]);
    expect(store.get().items[0]?.skipHashReason).toBe("other-hash");
  });

  it("fails without sending when its tags or name are rejected", async () => {
    const { getItem, getPendingCalls, addHashed, waitForKind } = createUploadHarness();
    await addHashed("a", createFailure(400, "INVALID_BODY", { message: "tags.0: must not be blank" }));
    await waitForKind("failed");
    expect(getPendingCalls("send")).toEqual([]);
    await addHashed("b", createFailure(400, "BAD_REQUEST", { message: "only sha256 is supported as a hash" }));
    await waitForKind("sending", 1);
    expect(getItem(1).skipHashReason).toBe("other-hash");
  });

  it("is sent without a lookup when hashes are unsupported, and still verified", async () => {
    const { add, respond, getItem, getPendingCalls, addHashed, waitForKind } = createUploadHarness();
    await addHashed("a", createFailure(501, "NOT_IMPLEMENTED"));
    await respond("send", createStoredResult({ asset_hash: getHash("a") }));
    await waitForKind("done");
    add("b");
    await respond("send", createStoredResult({ asset_hash: getHash("b") }));
    await waitForKind("checking", 1);
    await respond("hash", createHashedOutcome("b"));
    await waitForKind("done", 1);
    expect(getPendingCalls("fromHash")).toEqual([]);
    expect([getItem(0).skipHashReason, getItem(1).skipHashReason]).toEqual(["no-from-hash", "no-from-hash"]);
    expect(getItem(1).status).toMatchObject({ check: { kind: "verified" } });
  });

  it("is sent without its id to a service that rejects ids", async () => {
    const { respond, addHashed, waitForKind } = createUploadHarness();
    await addHashed("a");
    await respond("send", createFailure(400, "UNSUPPORTED_FIELD"));
    expect((await respond("send", createStoredResult())).label).toBe("a no id");
    await waitForKind("done");
    await addHashed("b");
    expect((await respond("send", createStoredResult())).label).toBe("b no id");
  });

  it("is sent without an id when the service accepts none", async () => {
    const { store, respond } = createUploadHarness();
    store.add([{ file: new File(["a"], "a"), assetFields: defaultFields }], "local", true);
    await respond("hash", createHashedOutcome("a"));
    await respond("fromHash", unknownHash);
    expect((await respond("send", createStoredResult())).label).toBe("a no id");
  });

  it("is looked up by id after a disconnect and shown as stored", async () => {
    const { respond, getItem, getPendingCalls, addHashed, waitForKind } = createUploadHarness();
    await addHashed("film.mov");
    const first = await respond("send", createFailure(0, "CONSOLE_UNREACHABLE"));
    const response = await respond("byId", createStoredResult({ asset_hash: getHash("film.mov") }));
    expect(first.label).toBe(`film.mov ${response.label}`);
    await waitForKind("done");
    expect(getPendingCalls("send")).toEqual([]);
    expect(getItem().status).toMatchObject({ check: { kind: "verified" } });
  });

  it("is not resent while its state is unknown", async () => {
    const { respond, getItem, store, getPendingCalls, addHashed, waitForKind } = createUploadHarness();
    await addHashed("film.mov");
    const first = await respond("send", createFailure(0, "CONSOLE_UNREACHABLE"));
    await respond("byId", createFailure(503, "UPSTREAM_ERROR"));
    await waitForKind("failed");
    expect(getItem().status).toMatchObject({ failure: { code: "CONSOLE_UNREACHABLE" } });
    store.retry(getItem().key);
    await respond("byId", createFailure(503, "UPSTREAM_ERROR"));
    await waitForKind("failed");
    expect(getItem().status).toMatchObject({ failure: { code: "UPSTREAM_ERROR" } });
    expect([getPendingCalls("fromHash"), getPendingCalls("send")]).toEqual([[], []]);
    store.retry(getItem().key);
    expect(`film.mov ${(await respond("byId", createStoredResult())).label}`).toBe(first.label);
  });

  it("is resent with the same id without hashing again", async () => {
    const { respond, getItem, store, getPendingCalls, addHashed, waitForKind } = createUploadHarness();
    await addHashed("film.mov");
    const first = await respond("send", createFailure(502, "UPSTREAM_ERROR"));
    await respond("byId", createFailure(404, "NOT_FOUND"));
    await waitForKind("failed");
    expect(getItem().mayBeStored).toBe(false);
    store.retry(getItem().key);
    await respond("fromHash", unknownHash);
    expect((await respond("send", createStoredResult())).label).toBe(first.label);
    expect(getPendingCalls("hash")).toEqual([]);
  });

  it("stays in the list after a rejection and is retried only on demand", async () => {
    const { respond, getItem, store, calls, addHashed, waitForKind } = createUploadHarness();
    await addHashed("a");
    await respond("send", createFailure(413, "FILE_TOO_LARGE"));
    await waitForKind("failed");
    expect(getItem().mayBeStored).toBe(false);
    expect(calls).toEqual([]);
    store.clearStored();
    store.retry(getItem().key);
    await respond("fromHash", unknownHash);
    await waitForKind("sending");
  });

  it("is sent without a lookup when it has no tags", async () => {
    const { store, respond, getItem, getPendingCalls, waitForKind } = createUploadHarness();
    store.add([{ file: new File(["x"], "x"), assetFields: { ...defaultFields, tags: [] } }]);
    await respond("send", createStoredResult({ asset_hash: getHash("x") }));
    await respond("hash", createHashedOutcome("x"));
    await waitForKind("done");
    expect(getItem().skipHashReason).toBe("no-tags");
    expect(getPendingCalls("fromHash")).toEqual([]);
  });

  it("is sent unverified when the browser cannot hash", async () => {
    const { add, respond, getItem, waitForKind } = createUploadHarness();
    add("a");
    await respond("hash", { kind: "unavailable" });
    await respond("send", createStoredResult({ asset_hash: getHash("a") }));
    await respond("hash", { kind: "unavailable" });
    await waitForKind("done");
    expect(getItem()).toMatchObject({ skipHashReason: "not-hashed", status: { check: { kind: "unchecked", why: "not-hashed" } } });
  });

  it("fails when the file can no longer be read", async () => {
    const { add, respond, getItem, getPendingCalls, waitForKind } = createUploadHarness();
    add("a");
    await respond("hash", { kind: "unreadable" });
    await waitForKind("failed");
    expect(getItem().status).toMatchObject({ failure: { code: "FILE_UNREADABLE" } });
    expect(getPendingCalls("send")).toEqual([]);
  });
});
