// A frame can show and read only listed routes, and nothing of the member's account.
import { readdirSync } from "node:fs";
import { expect, it, vi } from "vitest";
import { embedPages } from "@/lib/contract/embed/embed-pages";
import { embedOperations } from "@/lib/server/auth/credentials";
import { openPage } from "@/lib/server/bff/open-page";
import { PAGE_HEADER } from "@/lib/server/cookies";
import { EMBED_PATH_HEADER } from "@/lib/shared/console-paths";
import { loadRoutes } from "@/tests/support/routes";
import { createEmbedHarness, SLOT } from "./embed-harness";

const incoming = vi.hoisted(() => ({ headers: new Headers() }));
vi.mock("next/headers", () => ({ headers: () => Promise.resolve(incoming.headers) }));
const embed = await createEmbedHarness();
const { host, secret } = await embed.addHost({ role: "admin", pages: [...embedPages] });
const ticket = await embed.ticket({ secret, aud: host.audience, sub: "admin@desk.test" });
const cookie = (await embed.bring(ticket, { id: host.id })).headers.getSetCookie()[0]?.split(";")[0] ?? "";
const path = `/embed/${host.id}/${SLOT}`;
const session = { cookie, headers: { [EMBED_PATH_HEADER]: path } };

async function isShown(page: string, options: { refuseEmbedded?: boolean } = {}): Promise<boolean> {
  incoming.headers = new Headers({ cookie: session.cookie, ...session.headers, [PAGE_HEADER]: page });
  try {
    return (await openPage(options)).viewer.role === "admin";
  } catch (error) {
    expect(String(error instanceof Error && "digest" in error ? error.digest : error)).toContain("404");
    return false;
  }
}

it("shows all pages except the API reference, account, shares, hosts and webhooks", async () => {
  const pages = readdirSync("app/(console)", { recursive: true, encoding: "utf8" })
    .filter((file) => /(^|\/)page\.tsx$/.test(file))
    .map(
      (file) =>
        `/${file
          .replace(/\/?page\.tsx$/, "")
          .replace("(overview)", "")
          .replace(/\[\w+\]/g, "an-id")}`,
    );
  const refused: string[] = [];
  for (const page of pages) if (!(await isShown(page))) refused.push(page);
  expect(refused.sort()).toEqual([
    "/docs/api",
    "/settings/account",
    "/settings/embedding",
    "/settings/shares",
    "/settings/tokens",
    "/settings/webhooks",
  ]);
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

it("hides a page that refuses frames when its path is allowed", async () => {
  expect([await isShown("/settings"), await isShown("/settings", { refuseEmbedded: true })]).toEqual([true, false]);
});

it("refuses account, token, session and sign-in requests and unlisted routes", async () => {
  const routes = (await loadRoutes()).filter(({ guard }) => guard && guard.role !== "public" && guard.action !== "endEmbedSession");
  const refused = new Set<string>();
  for (const { method, path: address, guard } of routes) {
    const isRead = method === "GET" || method === "HEAD";
    const response = await embed.request(address, { ...session, method, ...(!isRead && { json: {} }) });
    if (response.status === 403 && method !== "HEAD" && (await response.json()).code === "FORBIDDEN") refused.add(guard?.action ?? "");
    else await response.body?.cancel();
  }
  for (const accountAction of [
    "readAccount",
    "changeAccount",
    "confirmSession",
    "unlinkProvider",
    "listSessions",
    "endSession",
    "endSessions",
  ])
    expect(refused).toContain(accountAction);
  for (const adminAction of [
    "createToken",
    "revokeToken",
    "inviteMember",
    "listEmbedHosts",
    "addEmbedHost",
    "changeEmbedHost",
    "listShares",
  ])
    expect(refused).toContain(adminAction);
  expect(embedOperations.filter((action) => refused.has(action))).toEqual([]);
});
