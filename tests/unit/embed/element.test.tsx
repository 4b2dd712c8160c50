// <lightdesk-embed> as used by a host page's framework: set up before its script is loaded, and slow to render.
import { readFileSync } from "node:fs";
import { beforeEach, describe, expect, it, vi } from "vitest";

describe("element", () => {
  const element = document.createElement("lightdesk-embed");
  const getTicket = async () => "a.b.c";

  beforeEach(() => void vi.useFakeTimers());

  function dispatchMessage(
    of: Element,
    data: unknown,
    { origin = "https://desk.test", source }: { origin?: string; source?: unknown } = {},
  ): void {
    const event = new MessageEvent("message", { data, origin });
    Object.defineProperty(event, "source", { value: source ?? of.shadowRoot?.querySelector("iframe")?.contentWindow });
    window.dispatchEvent(event);
  }

  it("keeps an early ticket function and hides checks once the page loads", async () => {
    element.setAttribute("src", "https://desk.test");
    element.setAttribute("host", "0123456789abcdef01");
    Object.assign(element, { getTicket });
    document.body.append(element);
    let respond = (_given: Response) => {};
    vi.stubGlobal("fetch", () => new Promise<Response>((resolve) => void (respond = resolve)));
    new Function(readFileSync("public/embed.js", "utf8"))();
    expect(Reflect.get(element, "getTicket")).toBe(getTicket);

    await vi.advanceTimersByTimeAsync(5000);
    dispatchMessage(element, { lightdesk: 1, type: "ready" });
    respond(Response.json({ known: true, framing: true, now: Date.now() }));
    await vi.advanceTimersByTimeAsync(100);
    expect(element.shadowRoot?.querySelector("section")).toBeNull();
  });

  it("accepts messages only from its own frame and the console's origin", async () => {
    const received: string[] = [];
    element.addEventListener("asset-chosen", ({ type }) => void received.push(type));
    const ticketRequest = vi.fn(getTicket);
    Object.assign(element, { getTicket: ticketRequest });
    element.setAttribute("height", "auto");
    const chosenMessage = { lightdesk: 1, type: "asset-chosen", id: "1", name: "a", hash: null };
    const another = document.body.appendChild(document.createElement("iframe")).contentWindow;
    for (const data of [chosenMessage, { lightdesk: 1, type: "want-ticket" }, { lightdesk: 1, type: "height", height: 9000 }]) {
      dispatchMessage(element, data, { origin: "https://evil.test" });
      dispatchMessage(element, data, { source: window });
      dispatchMessage(element, data, { source: another });
    }
    for (const data of [null, "asset-chosen", 1, [], { ...chosenMessage, lightdesk: 2 }, { ...chosenMessage, type: ["asset-chosen"] }])
      dispatchMessage(element, data);
    dispatchMessage(element, { lightdesk: 1, type: "height", height: "9000px" });
    dispatchMessage(element, { lightdesk: 1, type: "height", height: Infinity });
    dispatchMessage(element, { lightdesk: 1, type: "load", detail: "an event of the page's own" });
    expect([received, ticketRequest.mock.calls, element.style.height]).toEqual([[], [], ""]);

    dispatchMessage(element, chosenMessage);
    dispatchMessage(element, { lightdesk: 1, type: "height", height: 1e9 });
    expect([received, element.style.height]).toEqual([["asset-chosen"], "100000px"]);
  });

  it("names no product and no session before it has begun", async () => {
    const part = (value: unknown) => btoa(JSON.stringify(value));
    const createTicket = (claims: object) => async () => `${part({})}.${part({ iat: Date.now() / 1000, ...claims })}.c2lnbg`;
    const host = element.getAttribute("host") ?? "";
    const aud = `https://desk.test/embed/${host}`;
    vi.stubGlobal("fetch", async () => Response.json({ known: true, framing: true, now: Date.now() }));
    async function getPanelAfter(ticket: () => Promise<string>, message?: object): Promise<string> {
      Object.assign(element, { getTicket: ticket });
      element.replaceWith(element);
      if (message) dispatchMessage(element, { lightdesk: 1, ...message });
      await vi.advanceTimersByTimeAsync(5000);
      return element.shadowRoot?.querySelector("section")?.textContent ?? "";
    }
    const good = createTicket({ aud, iss: location.origin });
    const silent = await getPanelAfter(good);
    expect(silent).toContain("This page doesn’t appear");
    expect(silent).toContain("✗ Session: No session yet.");
    expect(await getPanelAfter(good, { type: "want-ticket" })).toContain("✗ Session: No session yet.");
    expect(await getPanelAfter(good, { type: "error", reason: "ticket" })).toContain("✗ Session: The console refused the ticket.");
    expect(await getPanelAfter(good, { type: "error", reason: "console" })).toContain("✗ Session: The console couldn't create a session");
    expect(await getPanelAfter(createTicket({ aud, iss: "https://other.test" }))).toContain(
      `Its issuer must be this page's origin, ${location.origin}.`,
    );
    element.setAttribute("product", "Acme Studio");
    element.setAttribute("language", "zh-CN");
    const named = await getPanelAfter(good);
    expect(named).toContain("Acme Studio没有出现");
    expect(silent + named).not.toContain("Lightdesk");
    expect(element.shadowRoot?.querySelector("iframe")?.title).toBe("Acme Studio");
  });
});

describe("worker", () => {
  const PLACE = "https://desk.test/embed/0123456789abcdef01/abcdefgh1234";
  type Page = { url: string; postMessage: (message: unknown, ports: MessagePort[]) => void };

  /** `pages`: the open pages. `ask` returns the worker's response to a request. */
  function startWorker(pages: readonly Page[]) {
    const listeners = new Map<string, (event: unknown) => void>();
    const clients = { matchAll: async () => pages, claim: async () => undefined };
    const scope = {
      clients,
      skipWaiting: async () => undefined,
      addEventListener: (name: string, hear: () => void) => listeners.set(name, hear),
    };
    const fetchMock = vi.fn(async (_request: Request) => new Response());
    const code = readFileSync("public/embed-worker.js", "utf8");
    new Function("self", "location", "fetch", "Request", code)(scope, new URL(PLACE), fetchMock, PlainRequest);
    return {
      sent: fetchMock,
      ask(path: string): Promise<Response> | undefined {
        let answer: Promise<Response> | undefined;
        listeners.get("fetch")?.({
          request: new PlainRequest(path),
          respondWith: (response: Promise<Response>) => void (answer = response),
        });
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

  it("forwards requests immediately when no page has a bearer", async () => {
    const worker = startWorker([page(undefined), page(undefined)]);
    await worker.ask(`${PLACE}/api/jobs`);
    expect(authorization(worker)).toBeNull();
  });

  it("uses and keeps the bearer of the page that has one", async () => {
    const pages = [page(undefined), page("lde_x")];
    const worker = startWorker(pages);
    await worker.ask(`${PLACE}/api/jobs`);
    pages.length = 0;
    await worker.ask(`${PLACE}/api/queue`);
    expect([authorization(worker), worker.sent.mock.calls.length]).toEqual(["Bearer lde_x", 2]);
  });

  it("waits at most a second for a silent page", async () => {
    const worker = startWorker([{ url: `${PLACE}/start`, postMessage: () => undefined }]);
    const response = worker.ask(`${PLACE}/api/jobs`);
    await vi.advanceTimersByTimeAsync(1000);
    await response;
    expect(authorization(worker)).toBeNull();
  });

  it("gives a bearer to no other path and no other site", async () => {
    const worker = startWorker([]);
    worker.tell({ kind: "keep", bearer: "lde_x" }, `${PLACE}/start`);
    expect(worker.ask("https://evil.test/embed/0123456789abcdef01/abcdefgh1234/api/jobs")).toBeUndefined();
    await worker.ask(`${PLACE.replace("abcdefgh1234", "anotherslot1")}/api/jobs`);
    expect(authorization(worker)).toBeNull();
    await worker.ask(`${PLACE}/api/jobs`);
    expect(authorization(worker)).toBe("Bearer lde_x");
  });
});
