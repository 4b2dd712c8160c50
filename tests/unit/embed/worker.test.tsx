// The worker that adds the bearer token in browsers without cookies, driven as by a browser.
import { readFileSync } from "node:fs";
import { afterEach, beforeEach, expect, it, vi } from "vitest";

const PLACE = "https://desk.test/embed/0123456789abcdef01/abcdefgh1234";
type Page = { url: string; postMessage: (message: unknown, ports: MessagePort[]) => void };

/** `pages`: the open pages. `ask` returns the worker's answer to a request. */
function startWorker(pages: readonly Page[]) {
  const listeners = new Map<string, (event: unknown) => void>();
  const clients = { matchAll: async () => pages, claim: async () => undefined };
  const scope = {
    clients,
    skipWaiting: async () => undefined,
    addEventListener: (name: string, hear: () => void) => listeners.set(name, hear),
  };
  const sent = vi.fn(async (_request: Request) => new Response());
  const code = readFileSync("public/embed-worker.js", "utf8");
  new Function("self", "location", "fetch", "Request", code)(scope, new URL(PLACE), sent, PlainRequest);
  return {
    sent,
    ask(path: string): Promise<Response> | undefined {
      let answer: Promise<Response> | undefined;
      listeners.get("fetch")?.({ request: new PlainRequest(path), respondWith: (given: Promise<Response>) => void (answer = given) });
      return answer;
    },
    tell: (data: unknown, from: string) => listeners.get("message")?.({ data, source: { url: from }, ports: [] }),
  };
}

/** A page's request has a mode that Node's Request does not accept. */
class PlainRequest extends Request {
  constructor(input: string | Request, init?: RequestInit) {
    super(input, { headers: init?.headers });
  }
}

const page = (bearer: string | undefined): Page => ({
  url: `${PLACE}/jobs`,
  postMessage: (_message, [port]) => port?.postMessage(bearer),
});
const authorization = ({ sent }: ReturnType<typeof startWorker>) => sent.mock.lastCall?.[0].headers.get("authorization");

beforeEach(() => void vi.useFakeTimers({ toFake: ["setTimeout"] }));
afterEach(() => void vi.useRealTimers());

it("sends on at once what no page has a bearer for", async () => {
  const worker = startWorker([page(undefined), page(undefined)]);
  await worker.ask(`${PLACE}/api/jobs`);
  expect(authorization(worker)).toBeNull();
});

it("takes the bearer of the page that has one, and keeps it", async () => {
  const pages = [page(undefined), page("lde_x")];
  const worker = startWorker(pages);
  await worker.ask(`${PLACE}/api/jobs`);
  pages.length = 0;
  await worker.ask(`${PLACE}/api/queue`);
  expect([authorization(worker), worker.sent.mock.calls.length]).toEqual(["Bearer lde_x", 2]);
});

it("waits no longer than a second for a page that says nothing", async () => {
  const worker = startWorker([{ url: `${PLACE}/start`, postMessage: () => undefined }]);
  const answer = worker.ask(`${PLACE}/api/jobs`);
  await vi.advanceTimersByTimeAsync(1000);
  await answer;
  expect(authorization(worker)).toBeNull();
});

it("gives a bearer to no other place and no other site", async () => {
  const worker = startWorker([]);
  worker.tell({ kind: "keep", bearer: "lde_x" }, `${PLACE}/start`);
  expect(worker.ask("https://evil.test/embed/0123456789abcdef01/abcdefgh1234/api/jobs")).toBeUndefined();
  await worker.ask(`${PLACE.replace("abcdefgh1234", "anotherslot1")}/api/jobs`);
  expect(authorization(worker)).toBeNull();
  await worker.ask(`${PLACE}/api/jobs`);
  expect(authorization(worker)).toBe("Bearer lde_x");
});
