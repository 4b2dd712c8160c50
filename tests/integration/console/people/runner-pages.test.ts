// The pages that app runners can open, and the redirects from all other pages.
import { expect, test, vi } from "vitest";
import { openPage } from "@/lib/server/bff/open-page";
import { PAGE_HEADER } from "@/lib/server/cookies";
import { EMBED_PATH_HEADER } from "@/lib/shared/console-paths";
import { createEmbedHarness, SLOT } from "../embed/embed-harness";

const mockRequest = vi.hoisted(() => ({ headers: new Headers() }));
vi.mock("next/headers", () => ({ headers: () => Promise.resolve(mockRequest.headers) }));
const embed = await createEmbedHarness();

/** Returns the viewer's role if the page opens, otherwise the digest of Next's redirect or error. */
async function getPageResult(page: string, headers: Record<string, string>, isFrame = false): Promise<string> {
  mockRequest.headers = new Headers({ ...headers, [PAGE_HEADER]: page });
  try {
    return (await openPage({ isFrame })).viewer.role;
  } catch (error) {
    return error instanceof Error && "digest" in error ? String(error.digest) : String(error);
  }
}

test("limits app runners to apps and their account", async () => {
  const { cookie } = await embed.addMember("Rita", "runner");
  for (const page of ["/apps", "/apps/1?x=1", "/settings/account", "/settings/tokens"])
    expect(await getPageResult(page, { cookie })).toBe("runner");
  for (const page of ["/", "/jobs", "/appsx", "/settings", "/settings/members"])
    expect(await getPageResult(page, { cookie })).toContain(";/apps;");
  expect(await getPageResult("/confirmed", { cookie }, true)).toBe("runner");
});

test("redirects embedded app runners to apps when the host allows apps", async () => {
  await embed.setRole("viewer", "runner");
  for (const [pages, appsResult] of [
    [["overview", "jobs", "apps"], "runner"],
    [["jobs"], "404"],
  ] as const) {
    const { host, secret } = await embed.addHost({ pages });
    const embedPath = `/embed/${host.id}/${SLOT}`;
    const response = await embed.bring(await embed.ticket({ secret, aud: host.audience, sub: "viewer@desk.test" }), { id: host.id });
    const cookie = response.headers.getSetCookie().find((value) => value.includes("lightdesk.embed")) ?? "";
    const headers = { cookie: cookie.split(";")[0] ?? "", [EMBED_PATH_HEADER]: embedPath };
    expect(await getPageResult("/jobs", headers)).toContain(`;${embedPath}/apps;`);
    expect(await getPageResult("/", headers)).toContain(`;${embedPath}/apps;`);
    expect(await getPageResult("/apps", headers)).toContain(appsResult);
  }
});
