import { createTranslator } from "next-intl";
import { beforeEach, describe, expect, it, test, vi } from "vitest";
import { toCheck } from "@/components/transfers/downloads/url-row";
import { getStateText } from "@/components/transfers/uploads/upload-state";
import { findStoredContent } from "@/lib/browser/uploads/asset-from-hash";
import { hashFile } from "@/lib/browser/uploads/hash-file";
import { type HashWorkerRequest, type HashWorkerResponse } from "@/lib/browser/uploads/hash-worker";
import * as messages from "@/lib/messages/en";
import { failed, ok } from "@/lib/shared/result";
import { until } from "@/tests/support/until";
import { createFailure, createHashedOutcome, createStoredResult, createUploadHarness, getHash, unknownHash } from "./upload-harness";

describe("a paused queue", () => {
  it("resumes one file on request", async () => {
    const { add, listKinds, getItem, store, waitForThreeHashing } = createUploadHarness();
    add("a", "b", "c", "d", "e");
    await waitForThreeHashing();
    store.pauseAll();
    expect(listKinds().every((kind) => kind.endsWith("paused"))).toBe(true);
    store.retry(getItem(3).key);
    await until("d is resumed", () => listKinds()[3] === "d hashing");
    expect(listKinds().filter((kind) => kind.endsWith("paused"))).toHaveLength(4);
  });

  it.each([
    ["the console is unreachable", createFailure(0, "CONSOLE_UNREACHABLE")],
    ["the session has expired", createFailure(401, "UNAUTHORIZED")],
    ["the service is unreachable", createFailure(502, "UPSTREAM_UNREACHABLE")],
  ])("pauses waiting files when %s and resumes on demand", async (_, failure) => {
    const { add, respond, listKinds, store } = createUploadHarness();
    add("a", "b", "c", "d", "e");
    await respond("hash", createHashedOutcome("a"));
    await respond("fromHash", failure);
    await until("the others are paused", () => listKinds().join() === "a failed,b hashing,c hashing,d paused,e paused");
    store.retryAll();
    await until("a is retried", () => listKinds()[0] === "a asking");
    await respond("fromHash", createStoredResult());
    await until("it is stored", () => listKinds()[0] === "a done");
    expect(listKinds().slice(3)).toEqual(["d paused", "e paused"]);
    store.resumeAll();
    await until("d is resumed", () => listKinds()[3] === "d hashing");
  });

  it("starts new files once all paused files are removed", async () => {
    const { add, getItem, listKinds, store } = createUploadHarness();
    add("a");
    store.pauseAll();
    store.remove(getItem().key);
    add("b");
    await until("b is started", () => listKinds().join() === "b hashing");
  });

  it("continues when a single file fails", async () => {
    const { add, respond, listKinds } = createUploadHarness();
    add("a", "b", "c", "d", "e");
    await respond("hash", { kind: "unreadable" });
    await until("d is started", () => listKinds()[3] === "d hashing");
    await respond("hash", createHashedOutcome("b"));
    await respond("fromHash", unknownHash);
    // A proxy with a size limit closes the connection.
    await respond("send", createFailure(0, "CONSOLE_UNREACHABLE"));
    await respond("byId", createFailure(404, "NOT_FOUND"));
    await until("e is started", () => listKinds()[4] === "e hashing");
  });
});

const sameContent = createHashedOutcome("a");

describe("files with the same content", () => {
  it("are sent once, and the second is found by its hash", async () => {
    const { add, respond, getItem, listKinds, getPendingCalls, waitForKind } = createUploadHarness();
    add("a", "b", "c", "d");
    await respond("hash", sameContent);
    await until("a is looked up", () => getPendingCalls("fromHash").length === 1);
    await respond("hash", sameContent);
    await until("b waits for a", () => listKinds().join() === "a asking,b waiting,c hashing,d hashing");
    expect(getItem(1).status).toEqual({ kind: "waiting", isDuplicate: true });
    await respond("fromHash", unknownHash);
    const call = await respond("send", createStoredResult({ asset_hash: getHash("a") }));
    expect(call.label).toMatch(/^a /);
    const offered = await respond("fromHash", createStoredResult({ asset_hash: getHash("a"), created_new: false }));
    expect(offered.label).toBe(`b ${getHash("a")}`);
    await waitForKind("done", 1);
    expect(getItem(1).status).toMatchObject({ sentBytes: 0, check: { kind: "verified" } });
    expect(getPendingCalls("send")).toEqual([]);
  });

  it("are sent separately when the first fails, is paused or is removed", async () => {
    const { add, respond, getItem, store, getPendingCalls, waitForKind } = createUploadHarness();
    add("a", "b", "c");
    for (const _ of [1, 2, 3]) await respond("hash", sameContent);
    await respond("fromHash", unknownHash);
    await respond("send", createFailure(507, "STORAGE_FULL"));
    await until("b is looked up", () => getPendingCalls("fromHash")[0]?.label.startsWith("b "));
    expect(getItem(0).status.kind).toBe("failed");
    expect(getItem(2).status.kind).toBe("waiting");
    store.pause(getItem(1).key);
    const third = await respond("fromHash", unknownHash).then(() => respond("fromHash", unknownHash));
    expect(third.label).toMatch(/^c /);
    await waitForKind("sending", 2);
    store.retry(getItem(1).key);
    expect(getItem(1).status.kind).toBe("waiting");
    store.remove(getItem(2).key);
    await until("b is looked up again", () => getPendingCalls("fromHash")[0]?.label.startsWith("b "));
  });

  it("are independent on two connections", async () => {
    const { store, respond, getItem, getPendingCalls } = createUploadHarness();
    const file = () => ({ file: new File(["x"], "x"), assetFields: { name: "", tags: ["input"], metadata: {} } });
    store.add([file()], "one");
    store.add([file()], "two");
    await respond("hash", sameContent);
    await respond("hash", sameContent);
    await until("both are looked up", () => getPendingCalls("fromHash").length === 2);
    expect([getItem(0).status.kind, getItem(1).status.kind]).toEqual(["asking", "asking"]);
  });
});

describe("deduplication", () => {
  /** Hashes on this thread, because the test environment has no web workers. */
  class InlineWorker {
    onmessage: ((event: { data: HashWorkerResponse }) => void) | null = null;
    async postMessage(message: HashWorkerRequest) {
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
    vi.stubGlobal("Worker", InlineWorker);
    vi.stubGlobal("fetch", async (path: string, { body }: RequestInit) => {
      if (body) bodies.push([path, JSON.parse(String(body))]);
      return respond();
    });
  });
  const findContent = (signal = new AbortController().signal) => findStoredContent(file, { tags: ["input"], connection: "c", signal });

  test("offers the local hash and accepts only the same content", async () => {
    respond = () => Response.json({ asset: { id: "a", asset_hash: `blake3:${hash}` } });
    expect(await findContent()).toBe(hash);
    const expectedBody = { hash: `blake3:${hash}`, tags: ["input"], name: "hello.png", mime_type: "image/png" };
    expect(bodies).toEqual([["/api/console/known-content?connection=c", expectedBody]]);
  });

  test("treats other responses as unknown and requests nothing after an abort", async () => {
    for (const createResponse of [
      () => Response.json({ asset: { id: "a", asset_hash: `blake3:${"0".repeat(64)}` } }),
      () => Response.json({ asset: { id: "a" } }),
      () => Response.json({ asset: null }),
      () => Response.json({ code: "UPSTREAM_UNREACHABLE", message: "", request_id: "r" }, { status: 502 }),
      () => new Response("<h1>Welcome", { status: 200 }),
    ]) {
      respond = createResponse;
      expect(await findContent()).toBeUndefined();
    }
    const requestCount = bodies.length;
    expect(await findContent(AbortSignal.abort())).toBeUndefined();
    expect(bodies).toHaveLength(requestCount);
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
  const errors = Array.from({ length: 9 }, (_, index) => ({ message: `wrong ${index}` }));
  expect(createFacts({ validation: { is_valid: false, errors, warnings: ["odd", { code: "OLD" }, 7] } })).toMatchObject({
    errors: ["wrong 0", "wrong 1", "wrong 2", "wrong 3", "wrong 4"],
    warnings: ["odd", "OLD"],
  });
  expect(createFacts({ validation: { is_valid: true, errors } })?.errors).toEqual([]);
});

test("distinguishes an unsupported check from a rejected one", () => {
  const getCheckKind = (status: number, code = "X") => toCheck(failed({ status, code, message: "" })).kind;
  expect([getCheckKind(404), getCheckKind(501, "NOT_IMPLEMENTED")]).toEqual(["unsupported", "unsupported"]);
  expect([400, 403, 500, 0].map((status) => getCheckKind(status))).toEqual(["refused", "refused", "refused", "refused"]);
});

describe("changes that could not be written", () => {
  const translatorOptions = { locale: "en", messages } as const;
  const texts = {
    ...translatorOptions,
    t: createTranslator({ ...translatorOptions, namespace: "uploads" }),
    errors: createTranslator({ ...translatorOptions, namespace: "errors" }),
  };
  const createPartialFailure = (parts: string[], status = 503) =>
    failed({ parts, failure: { code: "UPSTREAM_UNAVAILABLE", message: "", status } });

  async function createStoredUpload() {
    const harness = createUploadHarness();
    harness.add("a");
    await harness.respond("hash", createHashedOutcome("a"));
    await harness.respond("fromHash", createStoredResult({ name: "a" }));
    await until("it is stored", () => harness.getItem().status.kind === "done");
    const editFields = (changes: object) =>
      harness.store.updateFields(new Set([harness.getItem().key]), (upload) => ({ ...upload.assetFields, ...changes }));
    return { ...harness, editFields };
  }

  it("are listed, and only they are retried", async () => {
    const { respond, editFields, getItem, store, getPendingCalls } = await createStoredUpload();
    editFields({ name: "A cat", tags: ["input", "cats"], metadata: { shot: 1 } });
    await respond("change", createPartialFailure(["name", "metadata"]));
    await until("it has failed", () => typeof getItem().fieldsUpdate === "object");
    expect(getStateText(getItem(), texts)).toMatch(/^not saved: name, metadata \(/);
    store.retry(getItem().key);
    const { label } = await respond("change", ok(undefined));
    const changes = { addedTags: [], removedTags: [], fields: { name: "A cat", user_metadata: { shot: 1 } } };
    expect(label).toBe(`asset-1 ${JSON.stringify(changes)}`);
    await until("it is written", () => getItem().fieldsUpdate === undefined);
    store.retry(getItem().key);
    expect(getPendingCalls("change")).toEqual([]);
  });

  it("notify the lists once they are written", async () => {
    const { respond, editFields, getItem, storedIds } = await createStoredUpload();
    editFields({ name: "A cat" });
    await respond("change", createPartialFailure(["name"]));
    await until("it has failed", () => typeof getItem().fieldsUpdate === "object");
    expect(storedIds).toEqual(["asset-1"]);
    editFields({ tags: ["input", "more"] });
    await respond("change", ok(undefined));
    await until("it is written", () => getItem().fieldsUpdate === undefined);
    expect(storedIds).toEqual(["asset-1", "asset-1"]);
  });

  it("are included in the next edit, even when it is equal", async () => {
    const { respond, editFields, getItem } = await createStoredUpload();
    editFields({ name: "A cat" });
    await respond("change", createPartialFailure(["name"]));
    await until("it has failed", () => typeof getItem().fieldsUpdate === "object");
    editFields({ name: "A cat" });
    expect((await respond("change", createPartialFailure(["name"]))).label).toContain('"name":"A cat"');
    await until("it has failed again", () => typeof getItem().fieldsUpdate === "object");
    editFields({ tags: ["input", "more"] });
    expect((await respond("change", ok(undefined))).label).toContain('"addedTags":["more"],"removedTags":[],"fields":{"name":"A cat"}');
  });
});
