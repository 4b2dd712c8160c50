import { getEventListeners } from "node:events";
import { beforeEach, describe, expect, test, vi } from "vitest";
import { operations } from "@/lib/contract/operations";
import { isSameOrigin } from "@/lib/server/bff/guard";
import { toStoredResponse } from "@/lib/server/prompts/submit-once";
import { createDeadline, createResponseTracker } from "@/lib/server/upstream/deadline";
import { createLocalDialect } from "@/lib/server/upstream/local-dialect/local-dialect";
import { type Send } from "@/lib/server/upstream/send";
import { createUpstream } from "@/lib/server/upstream/upstream";

test("leaves no abort listener on the caller's signal when cleared", () => {
  const caller = new AbortController();
  const deadlines = Array.from({ length: 50 }, () => createDeadline(60_000, caller.signal));
  for (const deadline of deadlines) deadline.clear();
  expect(getEventListeners(caller.signal, "abort")).toEqual([]);
  const reason = new Error("gone");
  caller.abort(reason);
  const last = deadlines.at(-1);
  expect([last?.signal.aborted, last?.signal.reason, last?.expired]).toEqual([true, reason, false]);
});

test("submits the console's client id unless one is set", async () => {
  const names: unknown[] = [];
  const server = async (request: Request) => {
    const body: { client_id?: string } = await request.json();
    names.push(body.client_id);
    return Response.json({ prompt_id: "job-1", number: 1, node_errors: {} });
  };
  const upstream = createUpstream({ baseUrl: "http://studio.test", apiKey: undefined, send: createLocalDialect(server, Date.now, "me") });
  const prompt = { "1": { class_type: "Note", inputs: { text: "x" } } };
  for (const json of [{ prompt }, { prompt, client_id: "an-editor" }])
    expect(await upstream.call(operations.submitPrompt, { json })).toMatchObject({ ok: true });
  expect(names).toEqual(["me", "an-editor"]);
});

test("requests the full info of a written file", async () => {
  const urls: string[] = [];
  const send: Send = async ({ url }) => {
    urls.push(url);
    return Response.json({ path: "a.json", size: 2, modified: 1 });
  };
  const upstream = createUpstream({ baseUrl: "http://studio.test", apiKey: undefined, send });
  await upstream.call(operations.writeUserdata, { params: { file: "a.json" }, query: { overwrite: false } });
  expect(urls).toEqual(["http://studio.test/api/userdata/a.json?overwrite=false&full_info=true"]);
});

test("keeps an oversized response's job id, including 64-bit integers", () => {
  const createLongResponse = (id: string) => `{"prompt_id":${id},"node_errors":{"1":"${"x".repeat(70_000)}"}}`;
  for (const id of ['"job-1"', "18446744073709551615"]) expect(toStoredResponse(createLongResponse(id))).toBe(`{"prompt_id":${id}}`);
});

const createPostRequest = (headers: Record<string, string>) => new Request("http://0.0.0.0:3000/api/queue", { method: "POST", headers });

test("uses the Host header as the page's origin, not the request URL", () => {
  expect(isSameOrigin(createPostRequest({ host: "desk:3000", origin: "http://desk:3000" }), undefined)).toBe(true);
  expect(isSameOrigin(createPostRequest({ host: "desk:3000", origin: "http://0.0.0.0:3000" }), undefined)).toBe(false);
  expect(isSameOrigin(createPostRequest({ host: "desk:3000", origin: "http://desk" }), undefined)).toBe(false);
});

test("uses the public URL regardless of the proxy's Host header", () => {
  const publicUrl = "https://desk.example.com";
  expect(isSameOrigin(createPostRequest({ host: "10.0.0.5:3000", origin: publicUrl }), publicUrl)).toBe(true);
  expect(isSameOrigin(createPostRequest({ host: "desk.example.com", origin: "http://desk.example.com" }), publicUrl)).toBe(false);
  expect(isSameOrigin(createPostRequest({ host: "desk.example.com", origin: "https://desk.example.com.evil.example" }), publicUrl)).toBe(
    false,
  );
});

test("checks Sec-Fetch-Site in addition to the origin", () => {
  expect(isSameOrigin(createPostRequest({ host: "desk", "sec-fetch-site": "same-origin" }), undefined)).toBe(true);
  for (const site of ["cross-site", "same-site", "something new"]) {
    expect(isSameOrigin(createPostRequest({ host: "desk", origin: "http://desk", "sec-fetch-site": site }), undefined)).toBe(false);
  }
});

describe("response tracker", () => {
  const UNRESPONSIVE_MS = 5_000;
  beforeEach(() => void vi.useFakeTimers());

  function createTestTracker() {
    const responseTracker = createResponseTracker(() => Date.now());
    const abandoned: string[] = [];
    const begin = (name: string, service = "studio") =>
      responseTracker.startRead(service, UNRESPONSIVE_MS, (reason) => abandoned.push(reason === "answered" ? `${name} is retried` : name));
    return { responseTracker, abandoned, begin };
  }
  const advanceTime = (ms: number) => vi.advanceTimersByTime(ms);

  test("aborts all but the first request after a timeout, then sends one probe", () => {
    const { abandoned, begin } = createTestTracker();
    const ends = ["first", "second", "third"].map((name) => begin(name));
    advanceTime(UNRESPONSIVE_MS - 1);
    expect(abandoned).toEqual([]);
    advanceTime(1);
    expect(abandoned).toEqual(["second", "third"]);
    ends[1]?.();
    ends[2]?.();
    begin("probe");
    begin("concurrent");
    advanceTime(500);
    expect(abandoned).toEqual(["second", "third", "concurrent"]);
    advanceTime(UNRESPONSIVE_MS);
    expect(abandoned).toEqual(["second", "third", "concurrent", "probe"]);
  });

  test("retries the first request when the service responds again", () => {
    const { responseTracker, abandoned, begin } = createTestTracker();
    begin("first");
    const end = begin("second");
    advanceTime(UNRESPONSIVE_MS);
    end();
    begin("new");
    advanceTime(400);
    responseTracker.recordResponse("studio");
    expect(abandoned).toEqual(["second", "first is retried"]);
    advanceTime(UNRESPONSIVE_MS - 1);
    expect(abandoned).toEqual(["second", "first is retried"]);
  });

  test("tracks services separately and resets when no request is pending", () => {
    const { responseTracker, abandoned, begin } = createTestTracker();
    const ends = [begin("first"), begin("second")];
    advanceTime(UNRESPONSIVE_MS);
    begin("other request", "other");
    responseTracker.recordResponse("other");
    for (const end of ends) end();
    begin("later");
    begin("later 2");
    begin("later 3");
    advanceTime(UNRESPONSIVE_MS - 1);
    expect(abandoned).toEqual(["second"]);
  });

  /** Creates a client of one service that uses the response tracker. */
  function createTrackedClient(send: Send) {
    const responseTracker = { tracker: createResponseTracker(() => Date.now()), service: "studio" };
    const upstream = createUpstream({ baseUrl: "http://studio.test", apiKey: undefined, send, responseTracker, limits: { attempts: 1 } });
    return {
      read: (operation: typeof operations.getObjectInfo | typeof operations.listQueue) => upstream.exchange(operation, { waiter: "poll" }),
      poll: () => upstream.call(operations.getUser, { waiter: "poll" }),
    };
  }
  const resolveAfter = <T>(ms: number, value: T) => new Promise<T>((resolve) => setTimeout(() => resolve(value), ms));
  /** Rejects when the request is aborted, like the real `send`. */
  const rejectOnAbort = <T>(request: Request, work: Promise<T>) =>
    Promise.race([work, new Promise<never>((_, reject) => request.signal.addEventListener("abort", () => reject(new Error("aborted"))))]);

  test("completes a slow operation while polls continue", async () => {
    const { read, poll } = createTrackedClient((request) =>
      rejectOnAbort(
        request,
        request.url.endsWith("/object_info")
          ? resolveAfter(12_000, Response.json({}))
          : Promise.resolve(Response.json({ status: "active" })),
      ),
    );
    const slow = read(operations.getObjectInfo);
    for (let count = 0; count < 5; count += 1) {
      await vi.advanceTimersByTimeAsync(7_000);
      expect(await poll()).toMatchObject({ ok: true });
    }
    expect(await slow).toMatchObject({ ok: true, value: { status: 200 } });
  });

  test("doesn't repeat a local request while its response body arrives", async () => {
    const requests: string[] = [];
    const slowBody = (signal: AbortSignal) =>
      new ReadableStream<Uint8Array>({
        async start(controller) {
          signal.addEventListener("abort", () => controller.error(signal.reason));
          await resolveAfter(9_000, undefined);
          if (signal.aborted) return;
          controller.enqueue(new TextEncoder().encode(JSON.stringify({ queue_running: [], queue_pending: [] })));
          controller.close();
        },
      });
    const server: Send = (request) => {
      const { pathname } = new URL(request.url);
      requests.push(pathname);
      const response =
        pathname === "/api/queue"
          ? resolveAfter(1_000, new Response(slowBody(request.signal)))
          : Promise.resolve(Response.json({ system: {} }));
      return rejectOnAbort(request, response);
    };
    const { read, poll } = createTrackedClient(createLocalDialect(server, Date.now, "me"));
    const slow = read(operations.listQueue);
    await vi.advanceTimersByTimeAsync(7_000);
    expect(await poll()).toMatchObject({ ok: true });
    await vi.advanceTimersByTimeAsync(5_000);
    expect(await slow).toMatchObject({ ok: true, value: { value: { queue_running: [], queue_pending: [] } } });
    expect(requests.filter((path) => path === "/api/queue")).toHaveLength(1);
  });
});
