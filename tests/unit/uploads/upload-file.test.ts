import { describe, expect, it } from "vitest";
import { until } from "@/tests/support/until";
import { defaultFields, getHash, line, refused, storedResult, toHashed, unknownHash } from "./upload-line";

describe("an upload", () => {
  it("is hashed first and not sent when the service has the content", async () => {
    const { add, answer, item, waiting, announced } = line();
    add("cat.png");
    await answer("hash", toHashed("cat.png"));
    const offered = await answer("fromHash", storedResult({ asset_hash: `blake3:${getHash("cat.png")}`, created_new: false }));
    expect(offered.what).toBe(`cat.png ${getHash("cat.png")}`);
    await until("it is done", () => item().status.kind === "done");
    expect(item().status).toMatchObject({ sentBytes: 0, check: { kind: "verified" } });
    expect(waiting("send")).toEqual([]);
    expect(announced).toEqual(["asset-1"]);
  });

  it("is uploaded with its own id when unknown, then compared", async () => {
    const { add, answer, item } = line();
    add("cat.png");
    await answer("hash", toHashed("cat.png"));
    await answer("fromHash", unknownHash);
    const call = await answer("send", storedResult({ asset_hash: getHash("cat.png") }));
    expect(call.what).toMatch(/^cat\.png [0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    await until("it is done", () => item().status.kind === "done");
    expect(item().status).toMatchObject({ sentBytes: 7, check: { kind: "verified" } });
  });

  it("raises an alarm that outlasts the list when the stored file differs", async () => {
    const { add, answer, item, store } = line();
    add("cat.png");
    await answer("hash", toHashed("cat.png"));
    await answer("fromHash", unknownHash);
    await answer("send", storedResult({ asset_hash: `blake3:${getHash("another")}` }));
    await until("it is done", () => item().status.kind === "done");
    expect(item().status).toMatchObject({ check: { kind: "differs", serverHash: `blake3:${getHash("another")}` } });
    store.clear();
    expect(store.get().items).toHaveLength(1);
  });

  it("is not called verified when the service hashes differently", async () => {
    const { add, answer, kinds, store } = line();
    add("a", "b");
    for (const name of ["a", "b"]) {
      await answer("hash", toHashed(name));
      await answer("fromHash", refused(400, "INVALID_HASH"));
    }
    await answer("send", storedResult({ asset_hash: `sha256:${getHash("a")}` }));
    await answer("send", storedResult());
    await until("both are done", () => kinds().join() === "a done,b done");
    expect(store.get().items.map(({ status }) => status.kind === "done" && status.check)).toEqual([
      { kind: "unchecked", why: "other-hash" },
      { kind: "unchecked", why: "no-hash" },
    ]);
    expect(store.get().items[0]?.sentWhole).toBe("other-hash");
  });

  it("fails when its tags or name are refused, since sending would fail too", async () => {
    const { add, answer, item, waiting } = line();
    add("a");
    await answer("hash", toHashed("a"));
    await answer("fromHash", refused(400, "INVALID_BODY", { message: "tags.0: must not be blank" }));
    await until("it has failed", () => item().status.kind === "failed");
    expect(waiting("send")).toEqual([]);
    add("b");
    await answer("hash", toHashed("b"));
    await answer("fromHash", refused(400, "BAD_REQUEST", { message: "only sha256 is supported as a hash" }));
    await until("it is sent", () => item(1).status.kind === "sending");
    expect(item(1).sentWhole).toBe("other-hash");
  });

  it("is sent whole once hashes are unsupported, and still compared", async () => {
    const { add, answer, item, waiting } = line();
    add("a");
    await answer("hash", toHashed("a"));
    await answer("fromHash", refused(501, "NOT_IMPLEMENTED"));
    await answer("send", storedResult({ asset_hash: getHash("a") }));
    await until("a is done", () => item().status.kind === "done");
    add("b");
    await answer("send", storedResult({ asset_hash: getHash("b") }));
    await until("b is compared", () => item(1).status.kind === "checking");
    await answer("hash", toHashed("b"));
    await until("b is done", () => item(1).status.kind === "done");
    expect(waiting("fromHash")).toEqual([]);
    expect([item(0).sentWhole, item(1).sentWhole]).toEqual(["no-from-hash", "no-from-hash"]);
    expect(item(1).status).toMatchObject({ check: { kind: "verified" } });
  });

  it("is sent without its id to a service that rejects ids", async () => {
    const { add, answer, item } = line();
    add("a");
    await answer("hash", toHashed("a"));
    await answer("fromHash", unknownHash);
    await answer("send", refused(400, "UNSUPPORTED_FIELD"));
    expect((await answer("send", storedResult())).what).toBe("a no id");
    await until("a is done", () => item().status.kind === "done");
    add("b");
    await answer("hash", toHashed("b"));
    await answer("fromHash", unknownHash);
    expect((await answer("send", storedResult())).what).toBe("b no id");
  });

  it("has no id when the service accepts none", async () => {
    const { store, answer } = line();
    store.add([{ file: new File(["a"], "a"), assetFields: defaultFields }], "local", true);
    await answer("hash", toHashed("a"));
    await answer("fromHash", unknownHash);
    expect((await answer("send", storedResult())).what).toBe("a no id");
  });

  it("is looked up by id after a disconnect and shown as stored", async () => {
    const { add, answer, item, waiting } = line();
    add("film.mov");
    await answer("hash", toHashed("film.mov"));
    await answer("fromHash", unknownHash);
    const first = await answer("send", refused(0, "CONSOLE_UNREACHABLE"));
    const response = await answer("byId", storedResult({ asset_hash: getHash("film.mov") }));
    expect(first.what).toBe(`film.mov ${response.what}`);
    await until("it is done", () => item().status.kind === "done");
    expect(waiting("send")).toEqual([]);
    expect(item().status).toMatchObject({ check: { kind: "verified" } });
  });

  it("is not resent while its state is unknown", async () => {
    const { add, answer, item, store, waiting } = line();
    add("film.mov");
    await answer("hash", toHashed("film.mov"));
    await answer("fromHash", unknownHash);
    const first = await answer("send", refused(0, "CONSOLE_UNREACHABLE"));
    await answer("byId", refused(503, "UPSTREAM_ERROR"));
    await until("it has failed", () => item().status.kind === "failed");
    expect(item().status).toMatchObject({ failure: { code: "CONSOLE_UNREACHABLE" } });
    store.again(item().key);
    await answer("byId", refused(503, "UPSTREAM_ERROR"));
    await until("it has failed again", () => item().status.kind === "failed");
    expect(item().status).toMatchObject({ failure: { code: "UPSTREAM_ERROR" } });
    expect([waiting("fromHash"), waiting("send")]).toEqual([[], []]);
    store.again(item().key);
    expect(`film.mov ${(await answer("byId", storedResult())).what}`).toBe(first.what);
  });

  it("is resent under the same id without hashing again", async () => {
    const { add, answer, item, store, waiting } = line();
    add("film.mov");
    await answer("hash", toHashed("film.mov"));
    await answer("fromHash", unknownHash);
    const first = await answer("send", refused(502, "UPSTREAM_ERROR"));
    await answer("byId", refused(404, "NOT_FOUND"));
    await until("it has failed", () => item().status.kind === "failed");
    expect(item().mayBeStored).toBe(false);
    store.again(item().key);
    await answer("fromHash", unknownHash);
    expect((await answer("send", storedResult())).what).toBe(first.what);
    expect(waiting("hash")).toEqual([]);
  });

  it("is kept after a refusal and retried manually only", async () => {
    const { add, answer, item, store, calls } = line();
    add("a");
    await answer("hash", toHashed("a"));
    await answer("fromHash", unknownHash);
    await answer("send", refused(413, "FILE_TOO_LARGE"));
    await until("it has failed", () => item().status.kind === "failed");
    expect(item().mayBeStored).toBe(false);
    expect(calls).toEqual([]);
    store.clear();
    store.again(item().key);
    await answer("fromHash", unknownHash);
    await until("it is sent again", () => item().status.kind === "sending");
  });

  it("is sent whole without a tag", async () => {
    const { store, answer, item, waiting } = line();
    store.add([{ file: new File(["x"], "x"), assetFields: { ...defaultFields, tags: [] } }]);
    await answer("send", storedResult({ asset_hash: getHash("x") }));
    await answer("hash", toHashed("x"));
    await until("it is done", () => item().status.kind === "done");
    expect(item().sentWhole).toBe("no-tags");
    expect(waiting("fromHash")).toEqual([]);
  });

  it("is sent unverified when the browser cannot hash", async () => {
    const { add, answer, item } = line();
    add("a");
    await answer("hash", { kind: "unavailable" });
    await answer("send", storedResult({ asset_hash: getHash("a") }));
    await answer("hash", { kind: "unavailable" });
    await until("it is done", () => item().status.kind === "done");
    expect(item()).toMatchObject({ sentWhole: "not-hashed", status: { check: { kind: "unchecked", why: "not-hashed" } } });
  });

  it("reports a file that can no longer be read", async () => {
    const { add, answer, item, waiting } = line();
    add("a");
    await answer("hash", { kind: "unreadable" });
    await until("it has failed", () => item().status.kind === "failed");
    expect(item().status).toMatchObject({ failure: { code: "FILE_UNREADABLE" } });
    expect(waiting("send")).toEqual([]);
  });
});
