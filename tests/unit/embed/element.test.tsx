// The <lightdesk-embed> element and its service worker. The host page sets up the element before the script loads.
import { readFileSync } from "node:fs";
import { beforeEach, describe, expect, it, vi } from "vitest";

describe("embed element", () => {
  const element = document.createElement("lightdesk-embed");
  const getTicket = async () => "a.b.c";

  beforeEach(() => void vi.useFakeTimers());

  function dispatchMessage(
    target: Element,
    data: unknown,
    { origin = "https://desk.test", source }: { origin?: string; source?: unknown } = {},
  ): void {
    const event = new MessageEvent("message", { data, origin });
    Object.defineProperty(event, "source", { value: source ?? target.shadowRoot?.querySelector("iframe")?.contentWindow });
    window.dispatchEvent(event);
  }

  it("keeps an early ticket function and hides checks once the page loads", async () => {
    element.setAttribute("src", "https://desk.test");
    element.setAttribute("host", "0123456789abcdef01");
    Object.assign(element, { getTicket });
    document.body.append(element);
    let respond = (_response: Response) => {};
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
    const otherFrame = document.body.appendChild(document.createElement("iframe")).contentWindow;
    for (const data of [chosenMessage, { lightdesk: 1, type: "want-ticket" }, { lightdesk: 1, type: "height", height: 9000 }]) {
      dispatchMessage(element, data, { origin: "https://evil.test" });
      dispatchMessage(element, data, { source: window });
      dispatchMessage(element, data, { source: otherFrame });
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

  it("reports the session's problem under the host's product name", async () => {
    const encodePart = (value: unknown) => btoa(JSON.stringify(value));
    const createTicket = (claims: object) => async () => `${encodePart({})}.${encodePart({ iat: Date.now() / 1000, ...claims })}.c2lnbg`;
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
    const validTicket = createTicket({ aud, iss: location.origin });
    const defaultPanel = await getPanelAfter(validTicket);
    expect(defaultPanel).toContain("This page doesn’t appear");
    expect(defaultPanel).toContain("✗ Session: No session yet.");
    expect(await getPanelAfter(validTicket, { type: "want-ticket" })).toContain("✗ Session: No session yet.");
    expect(await getPanelAfter(validTicket, { type: "error", reason: "ticket" })).toContain("✗ Session: The console refused the ticket.");
    expect(await getPanelAfter(validTicket, { type: "error", reason: "console" })).toContain(
      "✗ Session: The console couldn't create a session",
    );
    expect(await getPanelAfter(createTicket({ aud, iss: "https://other.test" }))).toContain(
      `Its issuer must be this page's origin, ${location.origin}.`,
    );
    element.setAttribute("product", "Acme Studio");
    element.setAttribute("language", "zh-CN");
    const namedPanel = await getPanelAfter(validTicket);
    expect(namedPanel).toContain("Acme Studio没有出现");
    expect(defaultPanel + namedPanel).not.toContain("Lightdesk");
    expect(element.shadowRoot?.querySelector("iframe")?.title).toBe("Acme Studio");
  });
});

describe("embed worker", () => {
  const EMBED_URL = "https://desk.test/embed/0123456789abcdef01/abcdefgh1234";
  type Page = { url: string; postMessage: (message: unknown, ports: MessagePort[]) => void };

  /** Starts the worker with the open `pages`. `sendRequest` returns its response. */
  function startWorker(pages: readonly Page[]) {
    const listeners = new Map<string, (event: unknown) => void>();
    const clients = { matchAll: async () => pages, claim: async () => undefined };
    const scope = {
      clients,
      skipWaiting: async () => undefined,
      addEventListener: (name: string, listener: () => void) => listeners.set(name, listener),
    };
    const fetchMock = vi.fn(async (_request: Request) => new Response());
    const code = readFileSync("public/embed-worker.js", "utf8");
    new Function("self", "location", "fetch", "Request", code)(scope, new URL(EMBED_URL), fetchMock, PlainRequest);
    return {
      fetch: fetchMock,
      sendRequest(path: string): Promise<Response> | undefined {
        let workerResponse: Promise<Response> | undefined;
        listeners.get("fetch")?.({
          request: new PlainRequest(path),
          respondWith: (response: Promise<Response>) => void (workerResponse = response),
        });
        return workerResponse;
      },
      sendMessage: (data: unknown, url: string) => listeners.get("message")?.({ data, source: { url }, ports: [] }),
    };
  }

  /** Drops the mode of a page's request, which Node's Request doesn't accept. */
  class PlainRequest extends Request {
    constructor(input: string | Request, init?: RequestInit) {
      super(input, { headers: init?.headers });
    }
  }

  const createPage = (bearer: string | undefined): Page => ({
    url: `${EMBED_URL}/jobs`,
    postMessage: (_message, [port]) => port?.postMessage(bearer),
  });
  const getAuthorization = ({ fetch }: ReturnType<typeof startWorker>) => fetch.mock.lastCall?.[0].headers.get("authorization");

  beforeEach(() => void vi.useFakeTimers({ toFake: ["setTimeout"] }));

  it("forwards requests immediately when no page has a bearer", async () => {
    const worker = startWorker([createPage(undefined), createPage(undefined)]);
    await worker.sendRequest(`${EMBED_URL}/api/jobs`);
    expect(getAuthorization(worker)).toBeNull();
  });

  it("uses and keeps the bearer of a page that has one", async () => {
    const pages = [createPage(undefined), createPage("lde_x")];
    const worker = startWorker(pages);
    await worker.sendRequest(`${EMBED_URL}/api/jobs`);
    pages.length = 0;
    await worker.sendRequest(`${EMBED_URL}/api/queue`);
    expect([getAuthorization(worker), worker.fetch.mock.calls.length]).toEqual(["Bearer lde_x", 2]);
  });

  it("waits at most a second for an unresponsive page", async () => {
    const worker = startWorker([{ url: `${EMBED_URL}/start`, postMessage: () => undefined }]);
    const response = worker.sendRequest(`${EMBED_URL}/api/jobs`);
    await vi.advanceTimersByTimeAsync(1000);
    await response;
    expect(getAuthorization(worker)).toBeNull();
  });

  it("sends a bearer to no other path and no other site", async () => {
    const worker = startWorker([]);
    worker.sendMessage({ kind: "keep", bearer: "lde_x" }, `${EMBED_URL}/start`);
    expect(worker.sendRequest("https://evil.test/embed/0123456789abcdef01/abcdefgh1234/api/jobs")).toBeUndefined();
    await worker.sendRequest(`${EMBED_URL.replace("abcdefgh1234", "anotherslot1")}/api/jobs`);
    expect(getAuthorization(worker)).toBeNull();
    await worker.sendRequest(`${EMBED_URL}/api/jobs`);
    expect(getAuthorization(worker)).toBe("Bearer lde_x");
  });
});
