// Page access of embedded sessions and app runners, and the product name on embedded and shared pages.
import { readdirSync } from "node:fs";
import { expect, it, vi } from "vitest";
import { embedPages } from "@/lib/contract/embed/embed-pages";
import { embedOperations } from "@/lib/server/auth/credentials";
import { openPage } from "@/lib/server/bff/open-page";
import { PAGE_HEADER } from "@/lib/server/cookies";
import { readEnv } from "@/lib/server/env";
import { getRequestMessages, messagesByLanguage } from "@/lib/server/i18n/messages";
import { EMBED_PATH_HEADER } from "@/lib/shared/console-paths";
import { languages } from "@/lib/shared/languages";
import { loadRoutes } from "@/tests/support/routes";
import { createEmbedHarness } from "./embed-harness";

const incoming = vi.hoisted(() => ({ headers: new Headers() }));
vi.mock("next/headers", () => ({ headers: () => Promise.resolve(incoming.headers) }));
// The name appears only on embedded and shared pages, so the other tests aren't affected.
const embed = await createEmbedHarness({ LIGHTDESK_PRODUCT_NAME: "Acme & Co. Studio" });
const hostPage = await embed.addHost({ role: "admin", pages: [...embedPages] });
const session = await embed.enterHost(hostPage, { sub: "admin@desk.test" });

/** Returns the viewer's role if the page opens, otherwise the digest of Next's redirect or error. */
async function getPageResult(page: string, headers: Record<string, string>, options: Parameters<typeof openPage>[0] = {}) {
  incoming.headers = new Headers({ ...headers, [PAGE_HEADER]: page });
  try {
    return (await openPage(options)).viewer.role;
  } catch (error) {
    return error instanceof Error && "digest" in error ? String(error.digest) : String(error);
  }
}
async function isShown(page: string, options: { refuseEmbedded?: boolean } = {}): Promise<boolean> {
  const result = await getPageResult(page, { cookie: session.cookie, ...session.headers }, options);
  if (result !== "admin") expect(result).toContain("404");
  return result === "admin";
}

it("shows all pages except the API reference, account, shares, hosts and webhooks", async () => {
  const files = readdirSync("app/(console)", { recursive: true, encoding: "utf8" }).filter((file) => /(^|\/)page\.tsx$/.test(file));
  const hiddenPages: string[] = [];
  for (const file of files) {
    const page = file.replace(/\/?page\.tsx$|\(overview\)/g, "").replace(/\[\w+\]/g, "an-id");
    if (!(await isShown(`/${page}`))) hiddenPages.push(page);
  }
  const settings = ["account", "embedding", "shares", "tokens", "webhooks"].map((name) => `settings/${name}`);
  expect(hiddenPages.sort()).toEqual(["docs/api", ...settings]);
});

it.each([
  "/settings/account?_rsc=1",
  "/settings/account/",
  "/settings//account",
  "/settings/./account",
  "/settings/members/../account",
  "/settings/%61ccount",
  "/settings/ACCOUNT",
  "/settings/account.rsc",
  "/settings/tokens/new",
  "/settings/anything-new",
  "/new-page",
  "/sign-in",
])("hides %s", async (page) => {
  expect(await isShown(page)).toBe(false);
});

it("hides pages that disable embedding even if their path is allowed", async () => {
  expect([await isShown("/settings"), await isShown("/settings", { refuseEmbedded: true })]).toEqual([true, false]);
});

it("rejects account, token, session and admin requests from embedded sessions", async () => {
  const routes = (await loadRoutes()).filter(({ guard }) => guard && guard.role !== "public" && guard.action !== "endEmbedSession");
  const rejectedActions = new Set<string>();
  for (const { method, path, guard } of routes) {
    const isRead = method === "GET" || method === "HEAD";
    const response = await embed.request(path, { ...session, method, ...(!isRead && { json: {} }) });
    if (response.status === 403 && method !== "HEAD" && (await response.json()).code === "FORBIDDEN")
      rejectedActions.add(guard?.action ?? "");
    else await response.body?.cancel();
  }
  const accountActions = ["readAccount", "changeAccount", "confirmSession", "unlinkProvider", "listSessions", "endSession", "endSessions"];
  const adminActions = ["createToken", "revokeToken", "inviteMember", "listEmbedHosts", "addEmbedHost", "changeEmbedHost", "listShares"];
  for (const action of [...accountActions, ...adminActions]) expect(rejectedActions).toContain(action);
  expect(embedOperations.filter((action) => rejectedActions.has(action))).toEqual([]);
});

it("limits app runners to apps and their account", async () => {
  const { cookie } = await embed.addMember("Rita", "runner");
  for (const page of ["/apps", "/apps/1?x=1", "/settings/account", "/settings/tokens"])
    expect(await getPageResult(page, { cookie })).toBe("runner");
  for (const page of ["/", "/jobs", "/appsx", "/settings", "/settings/members"])
    expect(await getPageResult(page, { cookie })).toContain(";/apps;");
  expect(await getPageResult("/confirmed", { cookie }, { isFrame: true })).toBe("runner");
});

it("redirects embedded app runners to apps when the host allows apps", async () => {
  await embed.setRole("viewer", "runner");
  for (const [pages, appsResult] of [
    [["overview", "jobs", "apps"], "runner"],
    [["jobs"], "404"],
  ] as const) {
    const runnerHost = await embed.addHost({ pages });
    const { cookie, headers: pathHeaders } = await embed.enterHost(runnerHost, { sub: "viewer@desk.test" });
    const [headers, embedPath] = [{ cookie, ...pathHeaders }, pathHeaders[EMBED_PATH_HEADER]];
    expect(await getPageResult("/jobs", headers)).toContain(`;${embedPath}/apps;`);
    expect(await getPageResult("/", headers)).toContain(`;${embedPath}/apps;`);
    expect(await getPageResult("/apps", headers)).toContain(appsResult);
  }
});

it("shows the configured name in frames and shares, and Lightdesk to members", async () => {
  for (const language of languages) {
    for (const [name, value] of [
      [EMBED_PATH_HEADER, "/embed/0123456789abcdef01/abcdefgh1234"],
      [PAGE_HEADER, "/share/token"],
    ] as const) {
      incoming.headers = new Headers({ [name]: value });
      const text = JSON.stringify(await getRequestMessages(language));
      expect([text.includes("Lightdesk"), text.includes("Acme & Co. Studio")]).toEqual([false, true]);
    }
    incoming.headers = new Headers({ [PAGE_HEADER]: "/jobs" });
    expect(await getRequestMessages(language)).toBe(messagesByLanguage[language]);
  }
});

it("omits the product name while an embedded page loads", () => {
  for (const language of languages) expect(JSON.stringify(messagesByLanguage[language].embedding.start)).not.toContain("Lightdesk");
});

it("rejects product names with markup, placeholders or quotes, or over 60 characters", () => {
  for (const name of ["<b>", "{count}", 'a"b', "a'b", "a\\b", "x".repeat(61)])
    expect(() => readEnv({ LIGHTDESK_PRODUCT_NAME: name })).toThrow("LIGHTDESK_PRODUCT_NAME must be");
});
