// Controls a page's live updates.
import { type Page } from "@playwright/test";
import { LIVE_PATH, parseTopic, type TopicName } from "@/lib/contract/live";

export const isLiveRequest = (url: URL) => url.pathname.endsWith(LIVE_PATH);

/** Makes the page read live updates itself, because Playwright can't change the requests, network and clock of a shared worker. */
export const disableSharedWorker = (page: Page) => page.addInitScript(() => Reflect.deleteProperty(window, "SharedWorker"));

/** Sends these values for the topics with these names. The stream ends after each response, and the page reopens it. */
export async function mockLiveUpdates(page: Page, values: Partial<Record<TopicName, unknown>>): Promise<void> {
  await disableSharedWorker(page);
  await page.route(isLiveRequest, (route) => {
    const { searchParams } = new URL(route.request().url());
    const snapshots = [...searchParams.getAll("topic"), ...searchParams.getAll("new")].flatMap((topic) => {
      const name = parseTopic(topic)?.name;
      const value = name && values[name];
      return value === undefined ? [] : [`event: snapshot\ndata: ${JSON.stringify({ topic, atMs: Date.now(), value })}\n\n`];
    });
    const body = ['event: hello\ndata: {"heartbeatMs":15000}\n\n', ...snapshots].join("");
    return route.fulfill({ contentType: "text/event-stream", body });
  });
}
