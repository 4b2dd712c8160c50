// The pages for members who only run apps, and the redirects of other pages.
import { expect, test, vi } from "vitest";
import { openPage } from "@/lib/server/bff/open-page";
import { PAGE_HEADER } from "@/lib/server/cookies";
import { EMBED_PATH_HEADER } from "@/lib/shared/console-paths";
import { createEmbedWorld, SLOT } from "../embed/embed-harness";

const incoming = vi.hoisted(() => ({ headers: new Headers() }));
vi.mock("next/headers", () => ({ headers: () => Promise.resolve(incoming.headers) }));
const world = await createEmbedWorld();

/** Next's response: the page, or the redirect's target. */
async function opened(page: string, headers: Record<string, string>, isFrame = false): Promise<string> {
  incoming.headers = new Headers({ ...headers, [PAGE_HEADER]: page });
  try {
    return (await openPage({ isFrame })).viewer.role;
  } catch (error) {
    return error instanceof Error && "digest" in error ? String(error.digest) : String(error);
  }
}

test("shows app runners only apps and their account", async () => {
  const { cookie } = await world.addMember("Rita", "runner");
  for (const page of ["/apps", "/apps/1?x=1", "/settings/account", "/settings/tokens"])
    expect(await opened(page, { cookie })).toBe("runner");
  for (const page of ["/", "/jobs", "/appsx", "/settings", "/settings/members"])
    expect(await opened(page, { cookie })).toContain(";/apps;");
  expect(await opened("/confirmed", { cookie }, true)).toBe("runner");
});

test("leads embedded app runners to apps and to permitted pages only", async () => {
  await world.giveRole("viewer", "runner");
  for (const [pages, asApps] of [
    [["overview", "jobs", "apps"], "runner"],
    [["jobs"], "404"],
  ] as const) {
    const { host, secret } = await world.addHost({ pages });
    const embedPath = `/embed/${host.id}/${SLOT}`;
    const response = await world.bring(await world.ticket({ secret, aud: host.audience, sub: "viewer@desk.test" }), { id: host.id });
    const cookie = response.headers.getSetCookie().find((value) => value.includes("lightdesk.embed")) ?? "";
    const headers = { cookie: cookie.split(";")[0] ?? "", [EMBED_PATH_HEADER]: embedPath };
    expect(await opened("/jobs", headers)).toContain(`;${embedPath}/apps;`);
    expect(await opened("/", headers)).toContain(`;${embedPath}/apps;`);
    expect(await opened("/apps", headers)).toContain(asApps);
  }
});
