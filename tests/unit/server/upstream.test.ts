import { getEventListeners } from "node:events";
import { beforeEach, describe, expect, test, vi } from "vitest";
import { operations } from "@/lib/contract/operations";
import { isSameOrigin } from "@/lib/server/bff/guard";
import { toStoredResponse } from "@/lib/server/prompts/submit-once";
import { createDeadline, createResponseTracker } from "@/lib/server/upstream/deadline";
import { createLocalDialect } from "@/lib/server/upstream/local-dialect/local-dialect";
import { type Send } from "@/lib/server/upstream/send";
import { createUpstream } from "@/lib/server/upstream/upstream";

test("adds one listener per caller, regardless of the number of calls", () => {
  const caller = new AbortController();
  const deadlines = Array.from({ length: 50 }, () => createDeadline(60_000, caller.signal));
  for (const deadline of deadlines) deadline.clear();
  expect(getEventListeners(caller.signal, "abort")).toEqual([]);
  const reason = new Error("gone");
  caller.abort(reason);
  const last = deadlines.at(-1);
  expect([last?.signal.aborted, last?.signal.reason, last?.expired]).toEqual([true, reason, false]);
});

// The console's additions to a workflow for a local server.
test("submits under the console's listening name unless one is set", async () => {
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

test("asks for the facts of a written file, not its name alone", async () => {
  const addresses: string[] = [];
  const send: Send = async ({ url }) => {
    addresses.push(url);
    return Response.json({ path: "a.json", size: 2, modified: 1 });
  };
  const upstream = createUpstream({ baseUrl: "http://studio.test", apiKey: undefined, send });
  await upstream.call(operations.writeUserdata, { params: { file: "a.json" }, query: { overwrite: false } });
  expect(addresses).toEqual(["http://studio.test/api/userdata/a.json?overwrite=false&full_info=true"]);
});

test("keeps an oversized response's job id, also beyond a double", () => {
  const long = (id: string) => `{"prompt_id":${id},"node_errors":{"1":"${"x".repeat(70_000)}"}}`;
  for (const id of ['"job-1"', "18446744073709551615"]) expect(toStoredResponse(long(id))).toBe(`{"prompt_id":${id}}`);
});

const from = (headers: Record<string, string>) => new Request("http://0.0.0.0:3000/api/queue", { method: "POST", headers });

test("uses the Host header as the page's origin, not the request URL", () => {
  expect(isSameOrigin(from({ host: "desk:3000", origin: "http://desk:3000" }), undefined)).toBe(true);
  expect(isSameOrigin(from({ host: "desk:3000", origin: "http://0.0.0.0:3000" }), undefined)).toBe(false);
  expect(isSameOrigin(from({ host: "desk:3000", origin: "http://desk" }), undefined)).toBe(false);
});

test("uses the public URL, regardless of the Host that the proxy sends", () => {
  const publicUrl = "https://desk.example.com";
  expect(isSameOrigin(from({ host: "10.0.0.5:3000", origin: publicUrl }), publicUrl)).toBe(true);
  expect(isSameOrigin(from({ host: "desk.example.com", origin: "http://desk.example.com" }), publicUrl)).toBe(false);
  expect(isSameOrigin(from({ host: "desk.example.com", origin: "https://desk.example.com.evil.example" }), publicUrl)).toBe(false);
});

test("checks Sec-Fetch-Site beside the origin", () => {
  expect(isSameOrigin(from({ host: "desk", "sec-fetch-site": "same-origin" }), undefined)).toBe(true);
  for (const site of ["cross-site", "same-site", "something new"]) {
    expect(isSameOrigin(from({ host: "desk", origin: "http://desk", "sec-fetch-site": site }), undefined)).toBe(false);
  }
});

describe("response tracker", () => {
  const UNRESPONSIVE_MS = 5_000;
  beforeEach(() => void vi.useFakeTimers());

  function world() {
    const responseTracker = createResponseTracker(() => Date.now());
    const abandoned: string[] = [];
    const begin = (name: string, service = "studio") =>
      responseTracker.begin(service, UNRESPONSIVE_MS, (reason) => abandoned.push(reason === "answered" ? `${name} is to ask again` : name));
    return { responseTracker, abandoned, begin };
  }
  const advanceTime = (ms: number) => vi.advanceTimersByTime(ms);

  test("fails all but the first after a time-out and probes with the next", () => {
    const { abandoned, begin } = world();
    const ends = ["patient", "second", "third"].map((name) => begin(name));
    advanceTime(UNRESPONSIVE_MS - 1);
    expect(abandoned).toEqual([]);
    advanceTime(1);
    expect(abandoned).toEqual(["second", "third"]);
    ends[1]?.();
    ends[2]?.();
    begin("look");
    begin("beside");
    advanceTime(500);
    expect(abandoned).toEqual(["second", "third", "beside"]);
    advanceTime(UNRESPONSIVE_MS);
    expect(abandoned).toEqual(["second", "third", "beside", "look"]);
  });

  test("also times out newly started requests", () => {
    const { responseTracker, abandoned, begin } = world();
    begin("patient");
    const end = begin("second");
    advanceTime(UNRESPONSIVE_MS);
    end();
    begin("new");
    advanceTime(400);
    responseTracker.answered("studio");
    expect(abandoned).toEqual(["second", "patient is to ask again"]);
    advanceTime(UNRESPONSIVE_MS - 1);
    expect(abandoned).toEqual(["second", "patient is to ask again"]);
  });

  test("waits for a slow read while others are answered", () => {
    const { responseTracker, abandoned, begin } = world();
    begin("slow");
    begin("slower");
    for (let times = 0; times < 10; times += 1) {
      advanceTime(UNRESPONSIVE_MS - 1);
      responseTracker.answered("studio");
    }
    expect(abandoned).toEqual([]);
  });

  test("tracks services separately and resets when nothing waits", () => {
    const { responseTracker, abandoned, begin } = world();
    const ends = [begin("patient"), begin("second")];
    advanceTime(UNRESPONSIVE_MS);
    begin("elsewhere", "other");
    responseTracker.answered("other");
    for (const end of ends) end();
    begin("later");
    begin("later too");
    begin("and this");
    advanceTime(UNRESPONSIVE_MS - 1);
    expect(abandoned).toEqual(["second"]);
  });

  /** Reads of one service by this clock. */
  function asking(send: Send) {
    const responseTracker = { of: createResponseTracker(() => Date.now()), service: "studio" };
    const upstream = createUpstream({ baseUrl: "http://studio.test", apiKey: undefined, send, responseTracker, limits: { attempts: 1 } });
    return {
      read: (operation: typeof operations.getObjectInfo | typeof operations.listQueue) => upstream.exchange(operation, { waits: "poll" }),
      poll: () => upstream.call(operations.getUser, { waits: "poll" }),
    };
  }
  const after = <T>(ms: number, value: T) => new Promise<T>((resolve) => setTimeout(() => resolve(value), ms));
  /** Like the port: an aborted request fails. */
  const unlessGivenUp = <T>(request: Request, work: Promise<T>) =>
    Promise.race([work, new Promise<never>((_, reject) => request.signal.addEventListener("abort", () => reject(new Error("given up"))))]);

  test("completes a slow operation while polls continue", async () => {
    const { read, poll } = asking((request) =>
      unlessGivenUp(
        request,
        request.url.endsWith("/object_info") ? after(12_000, Response.json({})) : Promise.resolve(Response.json({ status: "active" })),
      ),
    );
    const slow = read(operations.getObjectInfo);
    for (let times = 0; times < 5; times += 1) {
      await vi.advanceTimersByTimeAsync(7_000);
      expect(await poll()).toMatchObject({ ok: true });
    }
    expect(await slow).toMatchObject({ ok: true, value: { status: 200 } });
  });

  test("requests a local response once while its bytes arrive", async () => {
    const requests: string[] = [];
    const slowBody = (signal: AbortSignal) =>
      new ReadableStream<Uint8Array>({
        async start(controller) {
          signal.addEventListener("abort", () => controller.error(signal.reason));
          await after(9_000, undefined);
          if (signal.aborted) return;
          controller.enqueue(new TextEncoder().encode(JSON.stringify({ queue_running: [], queue_pending: [] })));
          controller.close();
        },
      });
    const server: Send = (request) => {
      const { pathname } = new URL(request.url);
      requests.push(pathname);
      const response =
        pathname === "/api/queue" ? after(1_000, new Response(slowBody(request.signal))) : Promise.resolve(Response.json({ system: {} }));
      return unlessGivenUp(request, response);
    };
    const { read, poll } = asking(createLocalDialect(server, Date.now, "me"));
    const slow = read(operations.listQueue);
    await vi.advanceTimersByTimeAsync(7_000);
    expect(await poll()).toMatchObject({ ok: true });
    await vi.advanceTimersByTimeAsync(5_000);
    expect(await slow).toMatchObject({ ok: true, value: { value: { queue_running: [], queue_pending: [] } } });
    expect(requests.filter((path) => path === "/api/queue")).toHaveLength(1);
  });
});
