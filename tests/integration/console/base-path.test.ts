// URLs and cookies of a console with a base path.
import sharp from "sharp";
import { expect, test } from "vitest";
import { createAuthOptions } from "@/lib/server/auth/next-auth";
import { formatCookieAttributes, getCookieName, getSessionCookieName, SESSION_COOKIES } from "@/lib/server/cookies";
import { createHarness, type Harness, HOST } from "@/tests/support/harness";

const harness = await createHarness({ settings: { LIGHTDESK_BASE_PATH: "/desk", LIGHTDESK_PUBLIC_URL: `http://${HOST}` } });

async function read<T>(path: string, options: Parameters<Harness["request"]>[1] = {}): Promise<T> {
  const response = await harness.request(path, { as: "owner", ...options });
  expect(response.status, path).toBeLessThan(300);
  return response.json();
}

test("adds the path once to invitations, the OpenAPI document and previews", async () => {
  const json = { email: "bo@desk.test", role: "viewer" };
  const { url } = await read<{ url: string }>("/api/console/members/invitations", { method: "POST", json });
  expect(url).toMatch(new RegExp(`^http://${HOST}/desk/invitation\\?token=`));

  const { servers } = await read<{ servers: { url: string }[] }>("/api/openapi.json");
  expect(servers).toEqual([{ url: `http://${HOST}/desk` }]);

  const file = await sharp({ create: { width: 6, height: 4, channels: 3, background: "red" } })
    .png()
    .toBuffer();
  const body = new FormData();
  body.set("image", new File([new Uint8Array(file)], "below.png", { type: "image/png" }));
  await read("/api/upload/image", { method: "POST", body });
  const { assets } = await read<{ assets: { preview_url: string }[] }>("/api/assets?name_contains=below");
  expect(assets[0]?.preview_url).toMatch(/^\/desk\/api\/view\?.*connection=embedded/);
});

test("scopes the session cookie and the next-auth pages to the base path", () => {
  const events = { onSuccess: () => undefined, onRejection: () => undefined, onError: () => undefined };
  const { cookies, pages } = createAuthOptions(harness.console, events, new Headers());
  expect(cookies?.sessionToken).toMatchObject({ name: "lightdesk.session", options: { path: "/desk", httpOnly: true } });
  expect(pages).toEqual({ signIn: "/desk/sign-in", error: "/desk/sign-in" });
});

test("isolates next-auth cookies from other apps on the host", () => {
  const events = { onSuccess: () => undefined, onRejection: () => undefined, onError: () => undefined };
  const cookieEntries = Object.entries(createAuthOptions(harness.console, events, new Headers()).cookies ?? {});
  // All cookies that next-auth sets by itself.
  expect(cookieEntries.map(([kind]) => kind).sort()).toEqual([
    "callbackUrl",
    "csrfToken",
    "nonce",
    "pkceCodeVerifier",
    "sessionToken",
    "state",
  ]);
  for (const [, cookie] of cookieEntries) {
    expect(cookie).toMatchObject({ name: /^lightdesk\./, options: { path: "/desk", httpOnly: true, sameSite: "lax" } });
  }
});

test("limits cookies to HTTPS and the base path, or to the host without a path", () => {
  const [siteWithPath, siteWithoutPath] = [
    { publicUrl: "https://desk.test/desk", basePath: "/desk" },
    { publicUrl: "https://desk.test", basePath: "" },
  ];
  expect([getCookieName("one", siteWithPath), getCookieName("one", siteWithoutPath)]).toEqual(["__Secure-one", "__Host-one"]);
  expect(formatCookieAttributes(siteWithPath, 60)).toBe("Path=/desk; Max-Age=60; HttpOnly; SameSite=Lax; Secure");
  expect(formatCookieAttributes(siteWithoutPath, 60)).toBe("Path=/; Max-Age=60; HttpOnly; SameSite=Lax; Secure");
  for (const site of [siteWithPath, siteWithoutPath, { basePath: "/desk" }]) expect(SESSION_COOKIES).toContain(getSessionCookieName(site));
});
