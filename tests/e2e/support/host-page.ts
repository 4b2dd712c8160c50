// Serves the host page in docs/examples from another site than the console.
import { type APIRequestContext, expect, type FrameLocator, type Page } from "@playwright/test";
import { startProcess } from "@/tests/support/start-process";
import { type Desk, owner } from "./desk";
import { ignoreHiddenContent } from "./test";

type SavedHost = { host: { id: string }; secret: string };
type HostPage = { url: string; id: string; stop(): Promise<unknown> };

/** `request` is the owner's. */
export async function startHostPage(request: APIRequestContext, desk: Desk, member = owner.email): Promise<HostPage> {
  const headers = { origin: new URL(desk.url).origin };
  const pages = ["overview", "jobs", "queue", "history", "assets", "run"];
  const body = { name: "Portal", origins: ["http://localhost:1"], connection: null, role: "operator", pages, guests: false, jwksUrl: null };
  const response = await request.post(`${desk.url}/api/console/embedding`, { data: body, headers });
  expect(response.status(), await response.text()).toBe(201);
  const { host, secret }: SavedHost = await response.json();
  const settings = { LIGHTDESK: desk.url, LIGHTDESK_HOST: host.id, LIGHTDESK_SECRET: secret, PORT: "0", MEMBER: member };
  const hostProcess = startProcess("docs/examples/embed-host.mjs", settings);
  const url = await hostProcess.waitForOutput("Host page");
  const changeResponse = await request.patch(`${desk.url}/api/console/embedding/${host.id}`, { data: { origins: [url] }, headers });
  expect(changeResponse.status(), await changeResponse.text()).toBe(200);
  return { url, id: host.id, stop: () => hostProcess.stop() };
}

export function getEmbedFrame(page: Page, element = "lightdesk-embed"): FrameLocator {
  const frame = page.locator(element).first().frameLocator("iframe");
  ignoreHiddenContent(frame);
  return frame;
}

export function getHostLog(page: Page) {
  return page.locator("#events");
}
