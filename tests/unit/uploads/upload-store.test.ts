import { describe, expect, it } from "vitest";
import { type About } from "@/components/uploads/about";
import { type UploadPorts } from "@/components/uploads/carry";
import { type StoredAsset, type UploadItem } from "@/components/uploads/upload-item";
import { createUploadStore } from "@/components/uploads/upload-store";
import { type PoolOutcome } from "@/lib/browser/hash-pool";
import { type ApiFailure } from "@/lib/browser/read-failure";
import { failed, ok, type Result } from "@/lib/shared/result";
import { until } from "@/tests/support/until";

type Step = "hash" | "byId" | "fromHash" | "send" | "change";
type Call = {
  step: Step;
  what: string;
  signal: AbortSignal;
  from?: number;
  progress?: (share: number) => void;
  answer: (value: unknown) => void;
};

const about: About = { name: "", tags: ["input"], metadata: {} };
const hashOf = (name: string) => name.padEnd(64, "0").replace(/[^0-9a-f]/g, "a");
const stored = (more: Partial<StoredAsset> = {}): Result<StoredAsset, ApiFailure> => ok({ id: "asset-1", created_new: true, ...more });
const refused = (status: number, code: string, more: Partial<ApiFailure> = {}): Result<StoredAsset, ApiFailure> =>
  failed({ code, message: "", status, ...more });
const unknownHash = refused(404, "NOT_FOUND");

/** A service and a worker that answer when the test says so. */
function line() {
  const calls: Call[] = [];
  let nowMs = 0;
  const told: string[] = [];
  const ask = <T>(step: Step, what: string, signal: AbortSignal, more: Partial<Call> = {}) =>
    new Promise<T>((resolve) => {
      const call: Call = { step, what, signal, ...more, answer: (value) => resolve(value as T) }; // the test names the step's own answer
      calls.push(call);
    });
  const ports: UploadPorts = {
    hash: (file, { from, signal, onProgress }) =>
      ask<PoolOutcome>("hash", String(file.size), signal, { from: from?.offset, progress: (share) => onProgress?.(share * file.size) }),
    byId: (id, { signal }) => ask("byId", id, signal),
    fromHash: (hash, file, _about, { signal }) => ask("fromHash", `${file.name} ${hash}`, signal),
    send: ({ id, file }, { signal, onProgress }) => ask("send", `${file.name} ${id ?? "no id"}`, signal, { progress: onProgress }),
    change: (id, changes, { signal }) => ask("change", `${id} ${JSON.stringify(changes)}`, signal),
    nowMs: () => nowMs,
  };
  const store = createUploadStore(ports, (id) => told.push(id));
  const item = (at = 0): UploadItem => {
    const found = store.get().items[at];
    if (!found) throw new Error(`no file ${at}`);
    return found;
  };
  return {
    store,
    calls,
    told,
    item,
    kinds: () => store.get().items.map(({ file, status }) => `${file.name} ${status.kind}`),
    add: (...names: string[]) => store.add(names.map((name) => ({ file: new File([name], name), about }))),
    tick: (ms: number) => (nowMs += ms),
    /** The next call of this step that nobody has answered yet. */
    async answer(step: Step, value: unknown): Promise<Call> {
      const call = await until(`a call of ${step}`, () => calls.find((one) => one.step === step));
      calls.splice(calls.indexOf(call), 1);
      call.answer(value);
      return call;
    },
    waiting: (step: Step) => calls.filter((one) => one.step === step),
  };
}

const hashed = (name: string): PoolOutcome => ({ kind: "hashed", hash: hashOf(name) });

describe("a file on its way in", () => {
  it("is hashed first, and nothing of it is sent where the service has the content", async () => {
    const { add, answer, item, waiting, told } = line();
    add("cat.png");
    await answer("hash", hashed("cat.png"));
    const offered = await answer("fromHash", stored({ asset_hash: `blake3:${hashOf("cat.png")}`, created_new: false }));
    expect(offered.what).toBe(`cat.png ${hashOf("cat.png")}`);
    await until("it is done", () => item().status.kind === "done");
    expect(item().status).toMatchObject({ sentBytes: 0, check: { kind: "verified" } });
    expect(waiting("send")).toEqual([]);
    expect(told).toEqual(["asset-1"]);
  });

  it("is sent where nobody has the content, with an id made here, and compared afterwards", async () => {
    const { add, answer, item } = line();
    add("cat.png");
    await answer("hash", hashed("cat.png"));
    await answer("fromHash", unknownHash);
    const sent = await answer("send", stored({ asset_hash: hashOf("cat.png") }));
    expect(sent.what).toMatch(/^cat\.png [0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    await until("it is done", () => item().status.kind === "done");
    expect(item().status).toMatchObject({ sentBytes: 7, check: { kind: "verified" } });
  });

  it("raises an alarm where the service holds something else, and the alarm outlasts a cleared list", async () => {
    const { add, answer, item, store } = line();
    add("cat.png");
    await answer("hash", hashed("cat.png"));
    await answer("fromHash", unknownHash);
    await answer("send", stored({ asset_hash: `blake3:${hashOf("another")}` }));
    await until("it is done", () => item().status.kind === "done");
    expect(item().status).toMatchObject({ check: { kind: "differs", theirs: `blake3:${hashOf("another")}` } });
    store.clear();
    expect(store.get().items).toHaveLength(1);
  });

  it("is not called verified by a service that hashes in another way, or names none", async () => {
    const { add, answer, kinds, store } = line();
    add("a", "b");
    for (const name of ["a", "b"]) {
      await answer("hash", hashed(name));
      await answer("fromHash", refused(400, "INVALID_HASH"));
    }
    await answer("send", stored({ asset_hash: `sha256:${hashOf("a")}` }));
    await answer("send", stored());
    await until("both are done", () => kinds().join() === "a done,b done");
    expect(store.get().items.map(({ status }) => status.kind === "done" && status.check)).toEqual([
      { kind: "unchecked", why: "other-hash" },
      { kind: "unchecked", why: "no-hash" },
    ]);
    expect(store.get().items[0]?.sentWhole).toBe("other-hash");
  });

  it("is sent whole from then on where the service takes no hashes, and says so; it is compared all the same", async () => {
    const { add, answer, item, waiting } = line();
    add("a");
    await answer("hash", hashed("a"));
    await answer("fromHash", refused(501, "NOT_IMPLEMENTED"));
    await answer("send", stored({ asset_hash: hashOf("a") }));
    await until("a is done", () => item().status.kind === "done");
    add("b");
    await answer("send", stored({ asset_hash: hashOf("b") }));
    await until("b is compared", () => item(1).status.kind === "checking");
    await answer("hash", hashed("b"));
    await until("b is done", () => item(1).status.kind === "done");
    expect(waiting("fromHash")).toEqual([]);
    expect([item(0).sentWhole, item(1).sentWhole]).toEqual(["no-from-hash", "no-from-hash"]);
    expect(item(1).status).toMatchObject({ check: { kind: "verified" } });
  });

  it("is sent without its id to a service that takes none, and so are those after it", async () => {
    const { add, answer, item } = line();
    add("a");
    await answer("hash", hashed("a"));
    await answer("fromHash", unknownHash);
    await answer("send", refused(400, "UNSUPPORTED_FIELD"));
    expect((await answer("send", stored())).what).toBe("a no id");
    await until("a is done", () => item().status.kind === "done");
    add("b");
    await answer("hash", hashed("b"));
    await answer("fromHash", unknownHash);
    expect((await answer("send", stored())).what).toBe("b no id");
  });

  it("that broke off is asked for by its id before a byte goes again, and is found", async () => {
    const { add, answer, item, store, waiting } = line();
    add("film.mov");
    await answer("hash", hashed("film.mov"));
    await answer("fromHash", unknownHash);
    const first = await answer("send", refused(0, "CONSOLE_UNREACHABLE"));
    await until("it has failed", () => item().status.kind === "failed");
    store.again(item().key);
    const asked = await answer("byId", stored({ asset_hash: hashOf("film.mov") }));
    expect(first.what).toBe(`film.mov ${asked.what}`);
    await until("it is done", () => item().status.kind === "done");
    expect(waiting("send")).toEqual([]);
    expect(item().status).toMatchObject({ check: { kind: "verified" } });
  });

  it("that broke off and is not there is sent again under the same id, without hashing anew", async () => {
    const { add, answer, item, store, waiting } = line();
    add("film.mov");
    await answer("hash", hashed("film.mov"));
    await answer("fromHash", unknownHash);
    const first = await answer("send", refused(502, "UPSTREAM_ERROR"));
    await until("it has failed", () => item().status.kind === "failed");
    store.again(item().key);
    await answer("byId", refused(404, "NOT_FOUND"));
    await answer("fromHash", unknownHash);
    expect((await answer("send", stored())).what).toBe(first.what);
    expect(waiting("hash")).toEqual([]);
  });

  it("refused for what it is stays in sight, is not looked for, and is tried again by hand alone", async () => {
    const { add, answer, item, store, calls } = line();
    add("a");
    await answer("hash", hashed("a"));
    await answer("fromHash", unknownHash);
    await answer("send", refused(413, "FILE_TOO_LARGE"));
    await until("it has failed", () => item().status.kind === "failed");
    expect(item().mayBeThere).toBe(false);
    expect(calls).toEqual([]);
    store.clear();
    store.again(item().key);
    await answer("fromHash", unknownHash);
    await until("it is sent again", () => item().status.kind === "sending");
  });

  it("without a tag is sent whole, since the interface offers only tagged content by its hash", async () => {
    const { store, answer, item, waiting } = line();
    store.add([{ file: new File(["x"], "x"), about: { ...about, tags: [] } }]);
    await answer("send", stored({ asset_hash: hashOf("x") }));
    await answer("hash", hashed("x"));
    await until("it is done", () => item().status.kind === "done");
    expect(item().sentWhole).toBe("no-tags");
    expect(waiting("fromHash")).toEqual([]);
  });

  it("is sent without a hash where this browser cannot hash, and is not called verified", async () => {
    const { add, answer, item } = line();
    add("a");
    await answer("hash", { kind: "unavailable" });
    await answer("send", stored({ asset_hash: hashOf("a") }));
    await answer("hash", { kind: "unavailable" });
    await until("it is done", () => item().status.kind === "done");
    expect(item()).toMatchObject({ sentWhole: "not-hashed", status: { check: { kind: "unchecked", why: "not-hashed" } } });
  });

  it("that cannot be read any more says so, and nothing is sent", async () => {
    const { add, answer, item, waiting } = line();
    add("a");
    await answer("hash", { kind: "unreadable" });
    await until("it has failed", () => item().status.kind === "failed");
    expect(item().status).toMatchObject({ failure: { code: "FILE_UNREADABLE" } });
    expect(waiting("send")).toEqual([]);
  });
});

describe("the queue", () => {
  it("carries three at a time, in the order of choosing", async () => {
    const { add, answer, kinds } = line();
    add("a", "b", "c", "d");
    await until("three are hashed", () => kinds().filter((kind) => kind.endsWith("hashing")).length === 3);
    expect(kinds()[3]).toBe("d waiting");
    await answer("hash", hashed("a"));
    await answer("fromHash", stored());
    await until("d is begun", () => kinds()[3] === "d hashing");
    expect(kinds()[0]).toBe("a done");
  });

  it("pauses a file that is hashed without losing what was hashed", async () => {
    const { add, answer, item, store, waiting } = line();
    add("a");
    const [call] = await until("it is hashed", () => (waiting("hash").length === 1 ? waiting("hash") : undefined));
    store.pause(item().key);
    expect(item().status).toEqual({ kind: "paused", lost: false });
    expect(call?.signal.aborted).toBe(true);
    await answer("hash", { kind: "stopped", at: { offset: 1, state: new Uint8Array([7]) } });
    await until("the place is kept", () => item().hashedTo !== undefined);
    expect(item().status).toEqual({ kind: "paused", lost: false });
    store.again(item().key);
    const second = await answer("hash", hashed("a"));
    expect(second.from).toBe(1);
  });

  it("says that a file which was being sent begins again, asks for it first, and hears nothing of its former self", async () => {
    const { add, answer, item, store, waiting } = line();
    add("a");
    await answer("hash", hashed("a"));
    await answer("fromHash", unknownHash);
    const [sending] = await until("it is sent", () => (waiting("send").length === 1 ? waiting("send") : undefined));
    store.pause(item().key);
    expect(sending?.signal.aborted).toBe(true);
    sending?.progress?.(1);
    await answer("send", refused(0, "ABORTED"));
    expect(item().status).toEqual({ kind: "paused", lost: true });
    store.again(item().key);
    await answer("byId", refused(404, "NOT_FOUND"));
    await answer("fromHash", unknownHash);
    await until("it is sent anew", () => item().status.kind === "sending");
  });

  it("paused as a whole begins nothing, and goes on where it was", async () => {
    const { add, kinds, store, answer } = line();
    add("a", "b", "c", "d");
    await until("three are hashed", () => kinds().filter((kind) => kind.endsWith("hashing")).length === 3);
    store.pauseAll();
    expect(kinds()).toEqual(["a paused", "b paused", "c paused", "d waiting"]);
    add("e");
    expect(kinds()[4]).toBe("e waiting");
    store.resumeAll();
    for (const name of ["a", "b", "c"])
      await answer("hash", { kind: "stopped", at: { offset: 0, state: new Uint8Array() } }).then(() => name);
    await until("three are on their way again", () => kinds().filter((kind) => kind.endsWith("hashing")).length === 3);
    expect(kinds()[3]).toBe("d waiting");
  });

  it("ends the connection of what is taken away, makes room for the next, and is deaf to what comes late", async () => {
    const { add, answer, item, kinds, store, waiting, told } = line();
    add("a", "b", "c", "d");
    await answer("hash", hashed("a"));
    await answer("fromHash", unknownHash);
    const [sending] = await until("a is sent", () => (waiting("send").length === 1 ? waiting("send") : undefined));
    store.remove(item().key);
    expect(sending?.signal.aborted).toBe(true);
    await answer("send", stored());
    await until("d has a's place", () => kinds().join() === "b hashing,c hashing,d hashing");
    expect(told).toEqual([]);
  });

  it("cancels all that is not stored, and keeps what is", async () => {
    const { add, answer, item, kinds, store } = line();
    add("a", "b", "c", "d", "e");
    await answer("hash", hashed("a"));
    await answer("fromHash", stored());
    await until("a is done", () => item().status.kind === "done");
    store.cancelAll();
    expect(kinds()).toEqual(["a done"]);
  });

  it("tries all failed ones again with one press", async () => {
    const { add, answer, kinds, store } = line();
    add("a", "b");
    await answer("hash", hashed("a"));
    await answer("hash", hashed("b"));
    await answer("fromHash", refused(401, "UNAUTHORIZED"));
    await answer("fromHash", refused(401, "UNAUTHORIZED"));
    await until("both have failed", () => kinds().join() === "a failed,b failed");
    store.retryAll();
    await answer("fromHash", stored());
    await answer("fromHash", stored());
    await until("both are done", () => kinds().join() === "a done,b done");
  });

  it("takes another id where the service refuses the first one", async () => {
    const { add, answer, item, store } = line();
    add("a");
    await answer("hash", hashed("a"));
    await answer("fromHash", unknownHash);
    const first = await answer("send", refused(409, "ASSET_ID_UNAVAILABLE"));
    await until("it has failed", () => item().status.kind === "failed");
    store.again(item().key);
    await answer("fromHash", unknownHash);
    const second = await answer("send", stored());
    expect(second.what).not.toBe(first.what);
  });
});

describe("what shall stand on an asset", () => {
  it("goes along with the bytes, and is not written a second time", async () => {
    const { store, answer, item, calls } = line();
    store.add([{ file: new File(["x"], "x"), about: { ...about, previewId: "11111111-1111-4111-8111-111111111111" } }]);
    await answer("hash", hashed("x"));
    await answer("fromHash", unknownHash);
    await answer("send", stored());
    await until("it is done", () => item().status.kind === "done");
    expect(calls).toEqual([]);
  });

  it("is written afterwards where an asset was made from a hash, and where somebody described the file meanwhile", async () => {
    const { add, store, answer, item } = line();
    add("a");
    await answer("hash", hashed("a"));
    await until("it is asked for", () => item().status.kind === "asking");
    store.describe(new Set([item().key]), (one) => ({
      ...one.about,
      tags: ["input", "cats"],
      previewId: "11111111-1111-4111-8111-111111111111",
    }));
    await answer("fromHash", stored());
    const written = await answer("change", ok(undefined));
    expect(written.what).toContain('"addedTags":["cats"]');
    expect(written.what).toContain('"preview_id":"11111111');
    await until("it is written", () => item().changing === undefined);
  });

  it("is written to a stored asset on request, and a refusal stays beside the file", async () => {
    const { add, store, answer, item } = line();
    add("a");
    await answer("hash", hashed("a"));
    await answer("fromHash", stored());
    await until("it is done", () => item().status.kind === "done");
    store.describe(new Set([item().key]), (one) => ({ ...one.about, name: "A cat" }));
    expect(item().changing).toBe("now");
    await answer("change", refused(405, "METHOD_NOT_ALLOWED"));
    await until("it was refused", () => typeof item().changing === "object");
    expect(item().about.name).toBe("A cat");
  });
});

describe("measured speeds", () => {
  const big = () => new File([new Uint8Array(20 * 1024 * 1024)], "big");

  it("send a large file at once where hashing would take longer than sending, and compare it afterwards", async () => {
    const { store, answer, item, tick, waiting } = line();
    store.add([{ file: big(), about }]);
    await until("it is hashed", () => waiting("hash").length === 1);
    tick(20_000);
    await answer("hash", hashed("big"));
    await answer("fromHash", unknownHash);
    await until("it is sent", () => waiting("send").length === 1);
    tick(500);
    await answer("send", stored({ asset_hash: hashOf("big") }));
    await until("the first is done", () => item().status.kind === "done");
    store.add([{ file: big(), about }]);
    await answer("send", stored({ asset_hash: hashOf("big") }));
    expect(item(1).sentWhole).toBe("hashing-slower");
    await answer("hash", hashed("big"));
    await until("the second is done", () => item(1).status.kind === "done");
    expect(item(1).status).toMatchObject({ check: { kind: "verified" } });
  });
});
