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
  // A part that was streamed in stands in the document twice until the browser has moved it: no test looks before.
  page: async ({ page }, provide) => {
    const goto = page.goto.bind(page);
    const reload = page.reload.bind(page);
    page.goto = async (...given) => thenStreamed(page, await goto(...given));
    page.reload = async (...given) => thenStreamed(page, await reload(...given));
    await provide(page);
  },
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

async function thenStreamed<T>(page: Page, answer: T): Promise<T> {
  await page.waitForFunction(() => document.querySelector('div[hidden][id^="S:"]') === null);
  return answer;
}

export { expect };
