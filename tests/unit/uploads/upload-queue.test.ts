import { createTranslator } from "next-intl";
import { beforeEach, describe, expect, it, test, vi } from "vitest";
import { toCheck } from "@/components/transfers/downloads/address-line";
import { stateText } from "@/components/transfers/uploads/upload-state";
import { hashFile } from "@/lib/browser/uploads/hash-file";
import { type FromHashWorker, type ToHashWorker } from "@/lib/browser/uploads/hash-worker";
import { findStoredContent } from "@/lib/browser/uploads/offer-hash";
import * as messages from "@/lib/messages/en";
import { failed, ok } from "@/lib/shared/result";
import { until } from "@/tests/support/until";
import { getHash, line, refused, storedResult, toHashed, unknownHash } from "./upload-line";

describe("a paused queue", () => {
  it("resumes one file on request", async () => {
    const { add, kinds, item, store } = line();
    add("a", "b", "c", "d", "e");
    await until("three are hashed", () => kinds().filter((kind) => kind.endsWith("hashing")).length === 3);
    store.pauseAll();
    expect(kinds().every((kind) => kind.endsWith("paused"))).toBe(true);
    store.again(item(3).key);
    await until("it goes", () => kinds()[3] === "d hashing");
    expect(kinds().filter((kind) => kind.endsWith("paused"))).toHaveLength(4);
  });

  it.each([
    ["nobody answers", refused(0, "CONSOLE_UNREACHABLE")],
    ["nobody is signed in any more", refused(401, "UNAUTHORIZED")],
    ["the service cannot be reached", refused(502, "UPSTREAM_UNREACHABLE")],
  ])("pauses waiting files when %s and resumes on one press", async (_, failure) => {
    const { add, answer, kinds, store } = line();
    add("a", "b", "c", "d", "e");
    await answer("hash", toHashed("a"));
    await answer("fromHash", failure);
    await until("the others are paused", () => kinds().join() === "a failed,b hashing,c hashing,d paused,e paused");
    store.retryAll();
    await until("it is tried again", () => kinds()[0] === "a asking");
    await answer("fromHash", storedResult());
    await until("it is stored", () => kinds()[0] === "a done");
    expect(kinds().slice(3)).toEqual(["d paused", "e paused"]);
    store.resumeAll();
    await until("the next goes", () => kinds()[3] === "d hashing");
  });

  it("pauses nothing new once all paused files are removed", async () => {
    const { add, item, kinds, store } = line();
    add("a");
    store.pauseAll();
    store.remove(item().key);
    add("b");
    await until("b goes", () => kinds().join() === "b hashing");
  });

  it("is not paused for a failure of one file", async () => {
    const { add, answer, kinds } = line();
    add("a", "b", "c", "d", "e");
    await answer("hash", { kind: "unreadable" });
    await until("d goes", () => kinds()[3] === "d hashing");
    await answer("hash", toHashed("b"));
    await answer("fromHash", unknownHash);
    // A proxy that accepts no large file closes the connection.
    await answer("send", refused(0, "CONSOLE_UNREACHABLE"));
    await answer("byId", refused(404, "NOT_FOUND"));
    await until("e goes", () => kinds()[4] === "e hashing");
  });
});

const sameAs = toHashed("a");

describe("two files of the same content", () => {
  it("are sent once: the second waits and is found by its hash", async () => {
    const { add, answer, item, kinds, waiting } = line();
    add("a", "b", "c", "d");
    await answer("hash", sameAs);
    await until("a is asked for", () => waiting("fromHash").length === 1);
    await answer("hash", sameAs);
    await until("b has made room", () => kinds().join() === "a asking,b waiting,c hashing,d hashing");
    expect(item(1).status).toEqual({ kind: "waiting", isBehind: true });
    await answer("fromHash", unknownHash);
    const call = await answer("send", storedResult({ asset_hash: getHash("a") }));
    expect(call.what).toMatch(/^a /);
    const offered = await answer("fromHash", storedResult({ asset_hash: getHash("a"), created_new: false }));
    expect(offered.what).toBe(`b ${getHash("a")}`);
    await until("b is done", () => item(1).status.kind === "done");
    expect(item(1).status).toMatchObject({ sentBytes: 0, check: { kind: "verified" } });
    expect(waiting("send")).toEqual([]);
  });

  it("upload apart when the first is refused, paused or removed", async () => {
    const { add, answer, item, store, waiting } = line();
    add("a", "b", "c");
    for (const _ of [1, 2, 3]) await answer("hash", sameAs);
    await answer("fromHash", unknownHash);
    await answer("send", refused(507, "STORAGE_FULL"));
    await until("b is asked for", () => waiting("fromHash")[0]?.what.startsWith("b "));
    expect(item(0).status.kind).toBe("failed");
    expect(item(2).status.kind).toBe("waiting");
    store.pause(item(1).key);
    const third = await answer("fromHash", unknownHash).then(() => answer("fromHash", unknownHash));
    expect(third.what).toMatch(/^c /);
    await until("c is sent", () => item(2).status.kind === "sending");
    store.again(item(1).key);
    expect(item(1).status.kind).toBe("waiting");
    store.remove(item(2).key);
    await until("b goes on", () => waiting("fromHash")[0]?.what.startsWith("b "));
  });

  it("are independent at two connections", async () => {
    const { store, answer, item, waiting } = line();
    const file = () => ({ file: new File(["x"], "x"), assetFields: { name: "", tags: ["input"], metadata: {} } });
    store.add([file()], "one");
    store.add([file()], "two");
    await answer("hash", sameAs);
    await answer("hash", sameAs);
    await until("both are asked for", () => waiting("fromHash").length === 2);
    expect([item(0).status.kind, item(1).status.kind]).toEqual(["asking", "asking"]);
  });
});

describe("deduplication", () => {
  /** Hashes like the real worker, but on this thread, since there are no browser workers here. */
  class ThisThread {
    onmessage: ((event: { data: FromHashWorker }) => void) | null = null;
    async postMessage(message: ToHashWorker) {
      if (!("file" in message)) return;
      const outcome = await hashFile(message.file, { signal: { aborted: false } });
      this.onmessage?.({ data: { id: message.id, outcome } });
    }
  }
  const file = new File(["hello"], "hello.png", { type: "image/png" });
  const hash = "ea8f163db38682925e4491c5e58d4bb3506ef8c14eb78a86e908c5624a67200f";
  let bodies: unknown[];
  let respond: () => Response;
  beforeEach(() => {
    bodies = [];
    vi.stubGlobal("Worker", ThisThread);
    vi.stubGlobal("fetch", async (path: string, { body }: RequestInit) => {
      if (body) bodies.push([path, JSON.parse(String(body))]);
      return respond();
    });
  });
  const find = (signal = new AbortController().signal) => findStoredContent(file, { tags: ["input"], connection: "c", signal });

  test("offers the local hash and accepts only the same content", async () => {
    respond = () => Response.json({ asset: { id: "a", asset_hash: `blake3:${hash}` } });
    expect(await find()).toBe(hash);
    const offered = { hash: `blake3:${hash}`, tags: ["input"], name: "hello.png", mime_type: "image/png" };
    expect(bodies).toEqual([["/api/console/known-content?connection=c", offered]]);
  });

  test("treats other responses as unknown and offers nothing after a stop", async () => {
    for (const other of [
      () => Response.json({ asset: { id: "a", asset_hash: `blake3:${"0".repeat(64)}` } }),
      () => Response.json({ asset: { id: "a" } }),
      () => Response.json({ asset: null }),
      () => Response.json({ code: "UPSTREAM_UNREACHABLE", message: "", request_id: "r" }, { status: 502 }),
      () => new Response("<h1>Welcome", { status: 200 }),
    ]) {
      respond = other;
      expect(await find()).toBeUndefined();
    }
    const offered = bodies.length;
    expect(await find(AbortSignal.abort())).toBeUndefined();
    expect(bodies).toHaveLength(offered);
  });
});

const createFacts = (metadata: unknown) => {
  const check = toCheck(ok(metadata));
  return check.kind === "known" ? check.facts : undefined;
};

test("accepts only an inline bitmap as the preview", () => {
  const inlineImage = "data:image/png;base64,AAAA";
  expect(createFacts({ preview_image: inlineImage })?.picture).toBe(inlineImage);
  for (const invalid of ["https://tracker.example/a.png", "data:text/html;base64,AAAA", "data:image/svg+xml;base64,AAAA", 7, null])
    expect(createFacts({ preview_image: invalid })?.picture).toBeUndefined();
});

test("ignores invalid names and sizes and limits the error list", () => {
  expect(createFacts({ filename: "film.bin", content_length: 12 })).toMatchObject({
    name: "film.bin",
    sizeBytes: 12,
    errors: [],
    warnings: [],
  });
  expect(createFacts({ name: " ", content_length: -1 })).toEqual({ errors: [], warnings: [] });
  const errors = Array.from({ length: 9 }, (_, at) => ({ message: `wrong ${at}` }));
  expect(createFacts({ validation: { is_valid: false, errors, warnings: ["odd", { code: "OLD" }, 7] } })).toMatchObject({
    errors: ["wrong 0", "wrong 1", "wrong 2", "wrong 3", "wrong 4"],
    warnings: ["odd", "OLD"],
  });
  expect(createFacts({ validation: { is_valid: true, errors } })?.errors).toEqual([]);
});

test("distinguishes an unsupported check from a refusal", () => {
  const refusal = (status: number, code = "X") => toCheck(failed({ status, code, message: "" })).kind;
  expect([refusal(404), refusal(501, "NOT_IMPLEMENTED")]).toEqual(["unsupported", "unsupported"]);
  expect([400, 403, 500, 0].map((status) => refusal(status))).toEqual(["refused", "refused", "refused", "refused"]);
});

describe("edit uploads", () => {
  const of = { locale: "en", messages } as const;
  const texts = {
    ...of,
    t: createTranslator({ ...of, namespace: "uploads" }),
    errors: createTranslator({ ...of, namespace: "errors" }),
  };
  const refuse = (parts: string[], status = 503) => failed({ parts, failure: { code: "UPSTREAM_UNAVAILABLE", message: "", status } });

  async function storedFile() {
    const desk = line();
    desk.add("a");
    await desk.answer("hash", toHashed("a"));
    await desk.answer("fromHash", storedResult({ name: "a" }));
    await until("it is stored", () => desk.item().status.kind === "done");
    const call = (changes: object) => desk.store.describe(new Set([desk.item().key]), (upload) => ({ ...upload.assetFields, ...changes }));
    return { ...desk, call };
  }

  describe("changes that could not be written", () => {
    it("is named and alone retried", async () => {
      const { answer, call, item, store, waiting } = await storedFile();
      call({ name: "A cat", tags: ["input", "cats"], metadata: { shot: 1 } });
      await answer("change", refuse(["name", "metadata"]));
      await until("it was refused", () => typeof item().changing === "object");
      expect(stateText(item(), texts)).toMatch(/^not saved: name, metadata \(/);
      store.again(item().key);
      const { what } = await answer("change", ok(undefined));
      const changes = { addedTags: [], removedTags: [], fields: { name: "A cat", user_metadata: { shot: 1 } } };
      expect(what).toBe(`asset-1 ${JSON.stringify(changes)}`);
      await until("it is written", () => item().changing === undefined);
      store.again(item().key);
      expect(waiting("change")).toEqual([]);
    });

    it("is announced to lists once it was written, since they show names and previews", async () => {
      const { answer, call, item, announced } = await storedFile();
      call({ name: "A cat" });
      await answer("change", refuse(["name"]));
      await until("it was refused", () => typeof item().changing === "object");
      expect(announced).toEqual(["asset-1"]);
      call({ tags: ["input", "more"] });
      await answer("change", ok(undefined));
      await until("it is written", () => item().changing === undefined);
      expect(announced).toEqual(["asset-1", "asset-1"]);
    });

    it("is included in the next edit, also an equal one", async () => {
      const { answer, call, item } = await storedFile();
      call({ name: "A cat" });
      await answer("change", refuse(["name"]));
      await until("it was refused", () => typeof item().changing === "object");
      call({ name: "A cat" });
      expect((await answer("change", refuse(["name"]))).what).toContain('"name":"A cat"');
      await until("it was refused again", () => typeof item().changing === "object");
      call({ tags: ["input", "more"] });
      expect((await answer("change", ok(undefined))).what).toContain('"addedTags":["more"],"removedTags":[],"fields":{"name":"A cat"}');
    });
  });
});
