// The one `test` of the browser suite. Consoles and services belong to the fixture that started them, and end with it.
import { test as base, expect, type Page } from "@playwright/test";
import { type Desk, startDesk } from "./desk";
import { type PortService, startService } from "./service";

export type TargetOptions = { target: "embedded" | "port" };
type WorkerFixtures = TargetOptions & {
  /** A set-up console, shared by the tests of a worker. */
  desk: Desk;
  /** A service on its own port, shared by the tests of a worker. */
  service: PortService;
};
type TestFixtures = {
  /** A console that nobody has set up yet, for this test alone. */
  freshDesk: Desk;
  /** A console for this test alone, in which the page is signed in as its owner. */
  ownDesk: Desk;
  /** A page of the shared console, signed in as its owner. */
  signedIn: Page;
};

export const test = base.extend<TestFixtures, WorkerFixtures>({
  // Every page of every person in a test, also those that a test opens itself.
  browser: [
    async ({ browser }, provide) => {
      const newContext = browser.newContext.bind(browser);
      browser.newContext = async (...given) => (await newContext(...given)).on("page", seenWhenStreamed);
      await provide(browser);
    },
    { scope: "worker" },
  ],
  target: ["embedded", { option: true, scope: "worker" }],
  desk: [
    async ({ playwright }, provide) => {
      const desk = await startDesk();
      const request = await playwright.request.newContext();
      await desk.setUp(request);
      await request.dispose();
      await provide(desk);
      expect(await desk.stop(), desk.output()).toBe(0);
    },
    { scope: "worker" },
  ],
  service: [
    async ({}, provide) => {
      const service = await startService();
      await provide(service);
      expect(await service.stop(), service.output()).toBe(0);
    },
    { scope: "worker" },
  ],
  freshDesk: async ({}, provide) => {
    const desk = await startDesk();
    await provide(desk);
    expect(await desk.stop("SIGINT"), desk.output()).toBe(0);
  },
  ownDesk: async ({ freshDesk, request, context }, provide) => {
    await freshDesk.setUp(request);
    await freshDesk.signIn(context);
    await provide(freshDesk);
  },
  signedIn: async ({ page, context, desk }, provide) => {
    await desk.signIn(context);
    await provide(page);
  },
});

/** A part that was streamed in stands in the document twice until the browser has moved it: no test looks before. */
function seenWhenStreamed(page: Page): void {
  const [goto, reload] = [page.goto.bind(page), page.reload.bind(page)];
  const [goBack, goForward] = [page.goBack.bind(page), page.goForward.bind(page)];
  const streamed = async <T>(answer: Promise<T>): Promise<T> => {
    const given = await answer;
    await page.waitForFunction(() => document.querySelector('div[hidden][id^="S:"]') === null);
    return given;
  };
  page.goto = (...given) => streamed(goto(...given));
  page.reload = (...given) => streamed(reload(...given));
  page.goBack = (...given) => streamed(goBack(...given));
  page.goForward = (...given) => streamed(goForward(...given));
}

export { expect };
