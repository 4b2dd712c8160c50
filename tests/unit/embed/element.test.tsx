// <lightdesk-embed> as a host page's framework finds it: set up before its script has come, and slow to show.
import { readFileSync } from "node:fs";
import { afterEach, beforeEach, expect, it, vi } from "vitest";

const element = document.createElement("lightdesk-embed");
const getTicket = async () => "a.b.c";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

it("keeps a ticket function set before it is known, and shows no checks over a page that came up while they ran", async () => {
  element.setAttribute("src", "https://desk.test");
  element.setAttribute("host", "0123456789abcdef01");
  Object.assign(element, { getTicket });
  document.body.append(element);
  let answer = (_given: Response) => {};
  vi.stubGlobal("fetch", () => new Promise<Response>((resolve) => void (answer = resolve)));
  new Function(readFileSync("public/embed.js", "utf8"))();
  expect(Reflect.get(element, "getTicket")).toBe(getTicket);

  const frame = element.shadowRoot?.querySelector("iframe");
  await vi.advanceTimersByTimeAsync(5000);
  const ready = new MessageEvent("message", { data: { lightdesk: 1, type: "ready" }, origin: "https://desk.test" });
  Object.defineProperty(ready, "source", { value: frame?.contentWindow });
  window.dispatchEvent(ready);
  answer(Response.json({ known: true, framing: true, now: Date.now() }));
  await vi.advanceTimersByTimeAsync(100);
  expect(element.shadowRoot?.querySelector("section")).toBeNull();
});
