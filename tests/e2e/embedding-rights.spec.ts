// A visitor's permissions and messages in an embedded page.
import { type Page } from "@playwright/test";
import { getEmbedFrame, getHostLog, startHostPage } from "./support/host-page";
import { expect, test } from "./support/test";

const bo = { name: "Bo Builder", email: "bo-in-a-frame@example.com", password: "horse battery correct" };

test("ignores foreign messages and reports lost rights to an open frame and its host", async ({ signedIn: page, desk, browser }) => {
  await desk.addOperator(page.request, bo);
  const host = await startHostPage(page.request, desk, bo.email);
  const { members }: { members: { id: string; email: string }[] } = await (
    await page.request.get(`${desk.url}/api/console/members`)
  ).json();
  const id = members.find(({ email }) => email === bo.email)?.id ?? "";
  const updateMember = async (json: object) => {
    const response = await page.request.put(`${desk.url}/api/console/members/${id}`, { data: json, headers: { origin: desk.url } });
    expect(response.status(), await response.text()).toBe(200);
  };
  const visitor = await (await browser.newContext()).newPage();
  let ticketRequests = 0;
  visitor.on("request", (request) => (ticketRequests += request.url().endsWith("/ticket") ? 1 : 0));
  await visitor.goto(host.url);
  const frame = getEmbedFrame(visitor);
  await expect(frame.getByRole("heading", { name: "Jobs", exact: true })).toBeVisible();
  await expect(getHostLog(visitor)).toContainText("ready");
  ticketRequests = 0;

  await test.step("ignores foreign and malformed messages in the frame and in the element", async () => {
    // Messages of another frame of the host's origin, not of the parent frame.
    await visitor.evaluate(async () => {
      const otherFrame = document.createElement("iframe");
      otherFrame.srcdoc = `<script>
        const embeddedWindow = parent.document.querySelector("lightdesk-embed").shadowRoot.querySelector("iframe").contentWindow;
        embeddedWindow.postMessage({ lightdesk: 1, type: "end" }, "*");
        embeddedWindow.postMessage({ lightdesk: 1, type: "navigate", to: "/history" }, "*");
        parent.postMessage({ lightdesk: 1, type: "want-ticket" }, "*");
        parent.postMessage({ lightdesk: 1, type: "session-ended", reason: "host" }, "*");
      </script>`;
      document.body.append(otherFrame);
      await new Promise((resolve) => (otherFrame.onload = resolve));
    });
    // Messages of the host that are malformed, huge, not requested, or for pages that it may not show.
    await postMessages(visitor, [
      null,
      "end",
      { lightdesk: 2, type: "end" },
      { lightdesk: 1, type: ["end"] },
      { lightdesk: 1, type: "ticket", ticket: "x".repeat(5_000_000) },
      { lightdesk: 1, type: "ticket", ticket: "a.b.c" },
      { lightdesk: 1, type: "navigate", to: "//evil.example.com/jobs" },
      { lightdesk: 1, type: "navigate", to: "/settings/../sign-in" },
      { lightdesk: 1, type: "theme", theme: "x".repeat(1000) },
    ]);
    await visitor.evaluate(() => document.querySelector("lightdesk-embed")?.navigate("queue"));
    await expect(getHostLog(visitor).getByText('navigated {"path":"/queue"}')).toBeVisible();
    await expect(frame.getByRole("heading", { name: "Queue", exact: true })).toBeVisible();
    expect(await getHostLog(visitor).locator("li").allTextContents()).toEqual([
      'ready {"page":"/jobs","keeps":"cookie"}',
      'navigated {"path":"/queue"}',
    ]);
    expect(ticketRequests).toBe(0);
  });

  await updateMember({ role: "viewer" });
  await expect(getHostLog(visitor)).toContainText('session-ended {"reason":"changed"}');
  await expect(frame.getByText("Your permissions here have changed.")).toBeVisible();
  await expect(getHostLog(visitor).getByText("ready")).toHaveCount(2);

  await updateMember({ disabled: true });
  await expect(getHostLog(visitor)).toContainText('session-ended {"reason":"refused"}');
  await expect(frame.getByText("This site can no longer show you this page.")).toBeVisible();
  await visitor.context().close();
  await host.stop();
});

function postMessages(visitor: Page, messages: unknown[]): Promise<void> {
  return visitor.evaluate((items) => {
    const embeddedWindow = document.querySelector("lightdesk-embed")?.shadowRoot?.querySelector("iframe")?.contentWindow;
    for (const item of items) embeddedWindow?.postMessage(item, "*");
  }, messages);
}
