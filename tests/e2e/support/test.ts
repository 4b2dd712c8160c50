// The `test` function of the browser suite. Each fixture stops the consoles and services that it started.
import {
  type APIRequestContext,
  type Cookie,
  expect,
  type FrameLocator,
  type Locator,
  type Page,
  type PlaywrightWorkerArgs,
  test as base,
} from "@playwright/test";
import { type ConnectionView } from "@/lib/contract/console";
import { type Desk, startDesk } from "./desk";
import { type PortService, startService } from "./service";

type WorkerFixtures = {
  /** The console of a worker (`desk` in tests), already set up, with its owner and the owner's session. */
  sharedDesk: { desk: Desk; owner: APIRequestContext; session(): Promise<Cookie[]> };
  /** The service of a worker (`service` in tests). */
  sharedService: PortService;
};
type TestFixtures = {
  /** A console that is set up and shared by a worker's tests. Its service runs one job at a time, and each test starts without jobs. */
  desk: Desk;
  /** A service on its own port, shared in the same way. */
  service: PortService;
  /** A console that is not set up yet, for this test only. */
  freshDesk: Desk;
  /** A console for this test only; the page is signed in as its owner. */
  ownDesk: Desk;
  /** A page of the shared console, signed in as its owner. */
  signedIn: Page;
};

/** Sessions are reused this long: sensitive actions need a recent sign-in, and sign-ins are rate-limited. */
const SESSION_MS = 5 * 60_000;

export const test = base.extend<TestFixtures, WorkerFixtures>({
  // Prepares every page of a test, including those that the test opens itself.
  browser: [
    async ({ browser, playwright }, provide) => {
      const newContext = browser.newContext.bind(browser);
      browser.newContext = async (...args) => (await newContext(...args)).on("page", waitForHydrationOnPage);
      await retryClosedConnections(playwright);
      await provide(browser);
    },
    { scope: "worker" },
  ],
  sharedDesk: [
    async ({ playwright }, provide) => {
      const desk = await startDesk();
      const owner = await playwright.request.newContext({ extraHTTPHeaders: { origin: desk.url } });
      await desk.setUp(owner);
      let signedInAt = -Infinity;
      const session = async () => {
        // A test may have ended the session.
        const isSessionValid = Date.now() - signedInAt < SESSION_MS && (await owner.get(`${desk.url}/api/console/connections`)).ok();
        if (!isSessionValid) {
          await desk.signIn({ request: owner });
          signedInAt = Date.now();
        }
        const { cookies } = await owner.storageState();
        return cookies.filter(({ name }) => name.endsWith("lightdesk.session"));
      };
      await session();
      await provide({ desk, owner, session });
      await owner.dispose();
      expect(await desk.stop(), desk.output()).toBe(0);
    },
    { scope: "worker" },
  ],
  sharedService: [
    async ({}, provide) => {
      const service = await startService();
      await provide(service);
      expect(await service.stop(), service.output()).toBe(0);
    },
    { scope: "worker" },
  ],
  desk: async ({ sharedDesk: { desk, owner, session } }, provide) => {
    await provide(desk);
    await session();
    const { connections }: { connections: ConnectionView[] } = await (await owner.get(`${desk.url}/api/console/connections`)).json();
    const embedded = connections.find((connection) => connection.embedded);
    if (!embedded) throw new Error("The embedded connection is missing.");
    await stopJobs(owner, desk.url, { params: { connection: embedded.id } });
    // A new session starts with the connection that the member used last.
    if (!embedded.current) expect((await owner.post(`${desk.url}/api/console/connections/${embedded.id}/use`)).ok()).toBe(true);
  },
  service: async ({ sharedService, request }, provide) => {
    await provide(sharedService);
    await stopJobs(request, sharedService.url, { headers: { "X-API-Key": sharedService.key } });
  },
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
  // Depends on `desk`, whose jobs are cancelled afterwards.
  signedIn: async ({ page, context, sharedDesk, desk: _ }, provide) => {
    await context.addCookies(await sharedDesk.session());
    await provide(page);
  },
});

/** Retries requests whose reused connection was just closed by the server. */
async function retryClosedConnections({ request }: PlaywrightWorkerArgs["playwright"]): Promise<void> {
  const context = await request.newContext();
  const prototype: APIRequestContext = Object.getPrototypeOf(context);
  const { fetch } = prototype;
  const fetchWithRetries = function (this: APIRequestContext, ...[url, options]: Parameters<typeof fetch>): Promise<unknown> {
    return Reflect.apply(fetch, this, [url, { maxRetries: 2, ...options }]);
  };
  Reflect.set(prototype, "fetch", fetchWithRetries);
  await context.dispose();
}

type Options = { params?: Record<string, string>; headers?: Record<string, string> };

/** Cancels pending and running jobs, so that the next test does not queue behind them. */
async function stopJobs(request: APIRequestContext, url: string, options: Options): Promise<void> {
  const listResponse = await request.get(`${url}/api/jobs`, {
    ...options,
    params: { ...options.params, status: "pending,in_progress", limit: "1" },
  });
  expect(listResponse.status(), await listResponse.text()).toBe(200);
  const { pagination }: { pagination: { total: number } } = await listResponse.json();
  if (pagination.total === 0) return;
  for (const [path, data] of Object.entries({ "/api/queue": { clear: true }, "/api/interrupt": {} })) {
    const response = await request.post(url + path, { ...options, data });
    expect(response.status(), await response.text()).toBe(200);
  }
}

/**
 * A streamed part is in the document twice until the browser has moved it, and handles no clicks until React has hydrated it. So tests wait for
 * hydration, and ignore streamed content that is still hidden.
 */
function waitForHydrationOnPage(page: Page): void {
  const [goto, reload] = [page.goto.bind(page), page.reload.bind(page)];
  const [goBack, goForward] = [page.goBack.bind(page), page.goForward.bind(page)];
  const waitUntilReady = async <T>(promise: Promise<T>): Promise<T> => {
    const response = await promise;
    await page.waitForFunction(isReady);
    return response;
  };
  // Tests that wait for "commit" check only the first bytes.
  page.goto = (url, options) => (options?.waitUntil === "commit" ? goto(url, options) : waitUntilReady(goto(url, options)));
  page.reload = (...args) => waitUntilReady(reload(...args));
  page.goBack = (...args) => waitUntilReady(goBack(...args));
  page.goForward = (...args) => waitUntilReady(goForward(...args));
  // A click can load a page too, for example when signing in.
  page.on("request", (request) => {
    if (request.isNavigationRequest() && request.frame() === page.mainFrame()) reloadedPages.add(page);
  });
  makeLocatorsWait(page);
  const { keyboard } = page;
  const [press, insertText, type] = [keyboard.press.bind(keyboard), keyboard.insertText.bind(keyboard), keyboard.type.bind(keyboard)];
  keyboard.press = async (...args) => waitUntilHydrated(page).then(() => press(...args));
  keyboard.insertText = async (...args) => waitUntilHydrated(page).then(() => insertText(...args));
  keyboard.type = async (...args) => waitUntilHydrated(page).then(() => type(...args));
  ignoreHiddenContent(page);
}

type Scope = Pick<FrameLocator, "locator" | "getByText" | "getByLabel" | "getByTitle" | "getByTestId">;

/** Ignores hidden streamed content in a page or frame. Locators by role ignore it anyway. */
export function ignoreHiddenContent(root: Scope): void {
  const visible = root.locator('css=:not(div[hidden][id^="S:"] *)');
  const [locator, byText, byLabel] = [root.locator.bind(root), root.getByText.bind(root), root.getByLabel.bind(root)];
  const [byTitle, byTestId] = [root.getByTitle.bind(root), root.getByTestId.bind(root)];
  root.locator = (...args) => locator(...args).and(visible);
  root.getByText = (...args) => byText(...args).and(visible);
  root.getByLabel = (...args) => byLabel(...args).and(visible);
  root.getByTitle = (...args) => byTitle(...args).and(visible);
  root.getByTestId = (...args) => byTestId(...args).and(visible);
}

const reloadedPages = new WeakSet<Page>();
let areLocatorsPatched = false;

async function waitUntilHydrated(page: Page): Promise<void> {
  if (reloadedPages.delete(page)) await page.waitForFunction(isReady);
}

/** Makes every locator action wait until React has hydrated a reloaded page. */
function makeLocatorsWait(page: Page): void {
  if (areLocatorsPatched) return;
  areLocatorsPatched = true;
  const locators: Locator = Object.getPrototypeOf(page.locator("html"));
  const pointerActions = ["click", "dblclick", "tap", "hover", "focus", "press", "dragTo", "dispatchEvent"];
  const inputActions = ["fill", "clear", "pressSequentially", "check", "uncheck", "setChecked", "selectOption", "setInputFiles"];
  for (const name of [...pointerActions, ...inputActions]) {
    const action: unknown = Reflect.get(locators, name);
    if (typeof action !== "function") throw new Error(`Playwright's Locator has no method ${name}.`);
    const actWhenReady = async function (this: Locator, ...args: unknown[]): Promise<unknown> {
      await waitUntilHydrated(this.page());
      return Reflect.apply(action, this, args);
    };
    Reflect.set(locators, name, actWhenReady);
  }
}

/** Runs in the page. A page without the console's scripts is always ready. */
export function isReady(): boolean {
  if (document.querySelector('div[hidden][id^="S:"]')) return false;
  if (!document.querySelector('script[src*="/_next/"]')) return true;
  const isHydrated = (element: Element) => Object.keys(element).some((key) => key.startsWith("__react"));
  return [...document.querySelectorAll("body :is(a, button, input, select, textarea)")].every(isHydrated);
}

export { expect };
