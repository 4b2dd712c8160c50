// When reads of a service that does not answer are given up, by the test's own clock.
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { operations } from "@/lib/contract/operations";
import { createSilences } from "@/lib/server/upstream/deadline";
import { speakLocal } from "@/lib/server/upstream/local-dialect/speak-local";
import { type Send } from "@/lib/server/upstream/send";
import { createUpstream } from "@/lib/server/upstream/upstream";

const SILENT_MS = 5_000;
beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function world() {
  const silences = createSilences(() => Date.now());
  const givenUp: string[] = [];
  const begin = (name: string, service = "studio") =>
    silences.begin(service, SILENT_MS, (why) => givenUp.push(why === "answered" ? `${name} is to ask again` : name));
  return { silences, givenUp, begin };
}
const pass = (ms: number) => vi.advanceTimersByTime(ms);

test("all but the first are given up after a silence; the next is let look, and those beside it are given up sooner", () => {
  const { givenUp, begin } = world();
  const ends = ["patient", "second", "third"].map((name) => begin(name));
  pass(SILENT_MS - 1);
  expect(givenUp).toEqual([]);
  pass(1);
  expect(givenUp).toEqual(["second", "third"]);
  ends[1]?.();
  ends[2]?.();
  begin("look");
  begin("beside");
  pass(500);
  expect(givenUp).toEqual(["second", "third", "beside"]);
  pass(SILENT_MS);
  expect(givenUp).toEqual(["second", "third", "beside", "look"]);
});

test("an answer ends the silence also for those that had just begun", () => {
  const { silences, givenUp, begin } = world();
  begin("patient");
  const end = begin("second");
  pass(SILENT_MS);
  end();
  begin("new");
  pass(400);
  silences.answered("studio");
  expect(givenUp).toEqual(["second", "patient is to ask again"]);
  pass(SILENT_MS - 1);
  expect(givenUp).toEqual(["second", "patient is to ask again"]);
});

test("a slow read beside others that are answered is left its time", () => {
  const { silences, givenUp, begin } = world();
  begin("slow");
  begin("slower");
  for (let times = 0; times < 10; times += 1) {
    pass(SILENT_MS - 1);
    silences.answered("studio");
  }
  expect(givenUp).toEqual([]);
});

test("services know nothing of each other, and a silence is over when nobody waits any more", () => {
  const { silences, givenUp, begin } = world();
  const ends = [begin("patient"), begin("second")];
  pass(SILENT_MS);
  begin("elsewhere", "other");
  silences.answered("other");
  for (const end of ends) end();
  begin("later");
  begin("later too");
  begin("and this");
  pass(SILENT_MS - 1);
  expect(givenUp).toEqual(["second"]);
});

/** Reads of one service by this clock. */
function asking(send: Send) {
  const silences = { of: createSilences(() => Date.now()), service: "studio" };
  const upstream = createUpstream({ baseUrl: "http://studio.test", apiKey: undefined, send, silences, limits: { attempts: 1 } });
  return {
    read: (operation: typeof operations.getObjectInfo | typeof operations.listQueue) => upstream.exchange(operation, { waits: "poll" }),
    poll: () => upstream.call(operations.getUser, { waits: "poll" }),
  };
}
const after = <T>(ms: number, value: T) => new Promise<T>((resolve) => setTimeout(() => resolve(value), ms));
/** Like the port: a request that is given up fails. */
const unlessGivenUp = <T>(request: Request, work: Promise<T>) =>
  Promise.race([work, new Promise<never>((_, reject) => request.signal.addEventListener("abort", () => reject(new Error("given up"))))]);

test("an operation that takes longer than a silence is answered although polls are answered beside it", async () => {
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

test("a local server's answer whose bytes are on their way is asked for once", async () => {
  const asked: string[] = [];
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
    asked.push(pathname);
    const answer =
      pathname === "/api/queue" ? after(1_000, new Response(slowBody(request.signal))) : Promise.resolve(Response.json({ system: {} }));
    return unlessGivenUp(request, answer);
  };
  const { read, poll } = asking(speakLocal(server, Date.now, "me"));
  const slow = read(operations.listQueue);
  await vi.advanceTimersByTimeAsync(7_000);
  expect(await poll()).toMatchObject({ ok: true });
  await vi.advanceTimersByTimeAsync(5_000);
  expect(await slow).toMatchObject({ ok: true, value: { value: { queue_running: [], queue_pending: [] } } });
  expect(asked.filter((path) => path === "/api/queue")).toHaveLength(1);
});
