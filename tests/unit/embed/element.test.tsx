// <lightdesk-embed> as a host page's framework uses it: set up before its script is loaded, and slow to show.
import { readFileSync } from "node:fs";
import { afterEach, beforeEach, expect, it, vi } from "vitest";

const element = document.createElement("lightdesk-embed");
const getTicket = async () => "a.b.c";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

function say(of: Element, data: unknown, { origin = "https://desk.test", source }: { origin?: string; source?: unknown } = {}): void {
  const event = new MessageEvent("message", { data, origin });
  Object.defineProperty(event, "source", { value: source ?? of.shadowRoot?.querySelector("iframe")?.contentWindow });
  window.dispatchEvent(event);
}

it("keeps a ticket function set before it is known, and shows no checks over a page that came up while they ran", async () => {
  element.setAttribute("src", "https://desk.test");
  element.setAttribute("host", "0123456789abcdef01");
  Object.assign(element, { getTicket });
  document.body.append(element);
  let answer = (_given: Response) => {};
  vi.stubGlobal("fetch", () => new Promise<Response>((resolve) => void (answer = resolve)));
  new Function(readFileSync("public/embed.js", "utf8"))();
  expect(Reflect.get(element, "getTicket")).toBe(getTicket);

  await vi.advanceTimersByTimeAsync(5000);
  say(element, { lightdesk: 1, type: "ready" });
  answer(Response.json({ known: true, framing: true, now: Date.now() }));
  await vi.advanceTimersByTimeAsync(100);
  expect(element.shadowRoot?.querySelector("section")).toBeNull();
});

it("takes messages of its own frame from the console's origin alone, and gives nobody else a ticket", async () => {
  const received: string[] = [];
  element.addEventListener("asset-chosen", ({ type }) => void received.push(type));
  const asked = vi.fn(getTicket);
  Object.assign(element, { getTicket: asked });
  element.setAttribute("height", "auto");
  const chosen = { lightdesk: 1, type: "asset-chosen", id: "1", name: "a", hash: null };
  const another = document.body.appendChild(document.createElement("iframe")).contentWindow;
  for (const data of [chosen, { lightdesk: 1, type: "want-ticket" }, { lightdesk: 1, type: "height", height: 9000 }]) {
    say(element, data, { origin: "https://evil.test" });
    say(element, data, { source: window });
    say(element, data, { source: another });
  }
  for (const data of [null, "asset-chosen", 1, [], { ...chosen, lightdesk: 2 }, { ...chosen, type: ["asset-chosen"] }]) say(element, data);
  say(element, { lightdesk: 1, type: "height", height: "9000px" });
  say(element, { lightdesk: 1, type: "height", height: Infinity });
  say(element, { lightdesk: 1, type: "load", detail: "an event of the page's own" });
  expect([received, asked.mock.calls, element.style.height]).toEqual([[], [], ""]);

  say(element, chosen);
  say(element, { lightdesk: 1, type: "height", height: 1e9 });
  expect([received, element.style.height]).toEqual([["asset-chosen"], "100000px"]);
});

it("names no product, and never a session that has not begun", async () => {
  const part = (value: unknown) => btoa(JSON.stringify(value));
  const ticketOf = (claims: object) => async () => `${part({})}.${part({ iat: Date.now() / 1000, ...claims })}.c2lnbg`;
  const host = element.getAttribute("host") ?? "";
  const aud = `https://desk.test/embed/${host}`;
  vi.stubGlobal("fetch", async () => Response.json({ known: true, framing: true, now: Date.now() }));
  async function panelAfter(ticket: () => Promise<string>, message?: object): Promise<string> {
    Object.assign(element, { getTicket: ticket });
    element.replaceWith(element);
    if (message) say(element, { lightdesk: 1, ...message });
    await vi.advanceTimersByTimeAsync(5000);
    return element.shadowRoot?.querySelector("section")?.textContent ?? "";
  }
  const good = ticketOf({ aud, iss: location.origin });
  const silent = await panelAfter(good);
  expect(silent).toContain("This page doesn’t appear");
  expect(silent).toContain("✗ Session: None has begun.");
  expect(await panelAfter(good, { type: "want-ticket" })).toContain("✗ Session: None has begun.");
  expect(await panelAfter(good, { type: "error", reason: "ticket" })).toContain("✗ Session: The console did not accept the ticket.");
  expect(await panelAfter(good, { type: "error", reason: "console" })).toContain("✗ Session: The console could not open a session");
  expect(await panelAfter(ticketOf({ aud, iss: "https://other.test" }))).toContain(
    `Its issuer must be this page's origin, ${location.origin}.`,
  );
  element.setAttribute("product", "Acme Studio");
  element.setAttribute("language", "zh-CN");
  const named = await panelAfter(good);
  expect(named).toContain("Acme Studio没有出现");
  expect(silent + named).not.toContain("Lightdesk");
  expect(element.shadowRoot?.querySelector("iframe")?.title).toBe("Acme Studio");
});
