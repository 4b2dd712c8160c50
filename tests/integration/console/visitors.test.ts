// The pages that clients without a session get, and API clients that request a page.
import { IncomingMessage } from "node:http";
import { Socket } from "node:net";
import { describe, expect, it } from "vitest";
import { visitorRules } from "@/lib/server/bff/visitor-rules";
import { EMBED_PATH_HEADER } from "@/lib/shared/console-paths";
import { makeToken } from "@/tests/support/tokens";
import { createEmbedWorld, SLOT } from "./embed/embed-harness";

const world = await createEmbedWorld();
const token = await makeToken(world.harness, "owner");

function getRequest(url: string, headers: Record<string, string> = {}): IncomingMessage {
  const request = new IncomingMessage(new Socket());
  return Object.assign(request, { url, headers: { host: "desk.test", ...headers } });
}
const judge = (url: string, headers?: Record<string, string>) => visitorRules.answerFor(getRequest(url, headers));
const isMember = (url: string, headers?: Record<string, string>) => visitorRules.isMember(getRequest(url, headers));

describe("a browser without a session", () => {
  const browser = { accept: "text/html,application/xhtml+xml" };

  it.each([
    ["/", "/sign-in?callbackUrl=%2F"],
    ["/jobs?status=failed", "/sign-in?callbackUrl=%2Fjobs%3Fstatus%3Dfailed"],
    ["/jobs?_rsc=1abc", "/sign-in?callbackUrl=%2Fjobs"],
    ["/jobs?status=failed&_rsc=1abc", "/sign-in?callbackUrl=%2Fjobs%3Fstatus%3Dfailed"],
    ["//evil.example/x", "/sign-in?callbackUrl=%2F%2Fevil.example%2Fx"],
    ["/no-such-page", "/sign-in?callbackUrl=%2Fno-such-page"],
    [`/jobs?x=${"y".repeat(3000)}`, "/sign-in"],
  ])("redirects %s to the sign-in", async (url, location) => {
    expect(await judge(url, browser)).toEqual({ kind: "redirect", location });
    expect(await judge(url, { rsc: "1", accept: "*/*" })).toEqual({ kind: "redirect", location });
    expect(await judge(url, { ...browser, authorization: "Basic b2xhOnNlY3JldA==" })).toEqual({ kind: "redirect", location });
  });

  it("gets one sign-in page for all return addresses, by language and refusal", async () => {
    const plain = { kind: "shared", key: "/sign-in", url: "/sign-in", language: "en" };
    for (const url of [
      "/sign-in",
      "/sign-in/",
      "/sign-in?callbackUrl=/jobs",
      "/sign-in?refused=stale&provider=nobody",
      "/sign-in?x=1&_rsc=2",
    ])
      expect(await judge(url, browser)).toEqual(plain);
    expect(await judge("/sign-in", { "accept-language": "zh-CN" })).toEqual({ ...plain, language: "zh-CN" });
    expect(await judge("/sign-in", { cookie: "lightdesk.language=zh-CN", "accept-language": "en" })).toMatchObject({ language: "zh-CN" });
    expect(await judge("/sign-in", { cookie: "lightdesk.language=xx" })).toEqual(plain);
  });

  it.each([
    ["/set-up", "set-up over"],
    ["/set-up?token=guess", "set-up over"],
    ["/invitation", "/invitation"],
    ["/invitation?token=guess", "/invitation?token=-"],
    ["/share/guess", "share none"],
    [`/share/${"a".repeat(43)}`, "share none"],
    ["/share/a/b", "/sign-in/-"],
    ["/share", "/sign-in/-"],
    ["/sign-in/more", "/sign-in/-"],
  ])("gets at %s the page that all others get", async (url, key) => {
    expect(await judge(url, browser)).toMatchObject({ kind: "shared", key });
  });

  it("redirects a framed page to its start and returns 404 otherwise", async () => {
    const path = `/embed/${world.host.id}/${SLOT}`;
    expect(await judge(`${path}/jobs?x=1`)).toEqual({ kind: "redirect", location: `${path}/start?from=%2Fjobs%3Fx%3D1` });
    for (const own of ["/start", "/doctor"]) expect(await judge(path + own)).toEqual({ kind: "own" });
    for (const url of [`${path}/settings/account`, `${path}/nothing`, `/embed/unknown/${SLOT}/jobs`, "/embed/nothing"])
      expect(await judge(url)).toMatchObject({ kind: "refused", refused: { status: 404 } });
  });
});

describe("a program requesting a page", () => {
  const base = "The interface's base address is http://desk.test/api.";

  it.each([
    ["X-API-Key", () => ({ "x-api-key": token.token })],
    ["a bearer token", () => ({ authorization: `Bearer ${token.token}` })],
    ["a token beside a session", () => ({ "x-api-key": token.token, cookie: world.harness.cookieOf("owner") })],
    ["a token in a browser", () => ({ authorization: `Bearer ${token.token}`, accept: "text/html" })],
    ["a session that asks for JSON", () => ({ cookie: world.harness.cookieOf("owner"), accept: "application/json" })],
  ])("gets %s naming the missing operation and the interface's address", async (_name, headers) => {
    for (const url of ["/jobs", "/", "/sign-in", "/share/x", "/settings/account", `/embed/${world.host.id}/${SLOT}/jobs`]) {
      expect(await isMember(url, headers())).toBe(false);
      const refused = { status: 404, code: "NOT_FOUND", message: expect.stringContaining(base) };
      expect(await judge(url, headers())).toMatchObject({ kind: "refused", refused });
    }
  });

  it.each([
    ["a wrong key", { "x-api-key": "ld_wrong" }, 401],
    ["an empty key", { "x-api-key": "" }, 401],
    ["a wrong bearer", { authorization: "Bearer ld_wrong" }, 401],
    ["another bearer", { authorization: "Bearer eyJ" }, 401],
    ["a password", { authorization: "Basic b2xhOnNlY3JldA==", accept: "*/*" }, 401],
    ["no key but a wish for JSON", { accept: "application/json, */*;q=0.5" }, 401],
    ["two keys", { "x-api-key": "ld_one", authorization: "Bearer ld_two" }, 400],
  ])("refuses %s with the API's address", async (_name, headers, status) => {
    expect(await judge("/jobs", headers)).toMatchObject({ kind: "refused", refused: { status, message: expect.stringContaining(base) } });
  });
});

describe("a member", () => {
  it("accepts a client with a session, in the console and in a frame", async () => {
    expect(await isMember("/jobs", { cookie: world.harness.cookieOf("viewer") })).toBe(true);
    expect(await isMember("/jobs", { cookie: "lightdesk.session=forged" })).toBe(false);
    expect(await isMember("/jobs", { cookie: "other=1" })).toBe(false);
    const { cookie, headers } = await world.enter();
    const path = headers[EMBED_PATH_HEADER] ?? "";
    expect(await isMember(`${path}/jobs`, { cookie, [EMBED_PATH_HEADER]: path })).toBe(true);
    expect(await isMember(`${path}/jobs`, { cookie: world.harness.cookieOf("viewer"), [EMBED_PATH_HEADER]: path })).toBe(false);
    expect(await isMember("/api/jobs", { "x-api-key": token.token })).toBe(true);
  });
});
