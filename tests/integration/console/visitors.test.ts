// Page requests by browsers without a session and by API clients.
import { IncomingMessage } from "node:http";
import { Socket } from "node:net";
import { describe, expect, it } from "vitest";
import { visitorRules } from "@/lib/server/bff/visitor-rules";
import { EMBED_PATH_HEADER } from "@/lib/shared/console-paths";
import { createAccessToken } from "@/tests/support/tokens";
import { createEmbedHarness, SLOT } from "./embed/embed-harness";

const embed = await createEmbedHarness();
const token = await createAccessToken(embed.harness, "owner");

function createRequest(url: string, headers: Record<string, string> = {}): IncomingMessage {
  const request = new IncomingMessage(new Socket());
  return Object.assign(request, { url, headers: { host: "desk.test", ...headers } });
}
const getResponse = (url: string, headers?: Record<string, string>) => visitorRules.getResponse(createRequest(url, headers));
const isMember = (url: string, headers?: Record<string, string>) => visitorRules.isMember(createRequest(url, headers));

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
  ])("is redirected from %s to the sign-in page", async (url, location) => {
    expect(await getResponse(url, browser)).toEqual({ kind: "redirect", location });
    expect(await getResponse(url, { rsc: "1", accept: "*/*" })).toEqual({ kind: "redirect", location });
    expect(await getResponse(url, { ...browser, authorization: "Basic b2xhOnNlY3JldA==" })).toEqual({ kind: "redirect", location });
  });

  it("gets one shared sign-in page for all queries, by language", async () => {
    const sharedPage = { kind: "shared", key: "/sign-in", url: "/sign-in", language: "en" };
    for (const query of ["", "/", "?callbackUrl=/jobs", "?refused=stale&provider=nobody", "?x=1&_rsc=2"])
      expect(await getResponse(`/sign-in${query}`, browser)).toEqual(sharedPage);
    expect(await getResponse("/sign-in", { "accept-language": "zh-CN" })).toEqual({ ...sharedPage, language: "zh-CN" });
    const languageHeaders = { cookie: "lightdesk.language=zh-CN", "accept-language": "en" };
    expect(await getResponse("/sign-in", languageHeaders)).toMatchObject({ language: "zh-CN" });
    expect(await getResponse("/sign-in", { cookie: "lightdesk.language=xx" })).toEqual(sharedPage);
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
  ])("gets the shared page at %s", async (url, key) => {
    expect(await getResponse(url, browser)).toMatchObject({ kind: "shared", key });
  });

  it("is redirected from a framed page to its start, otherwise gets a 404", async () => {
    const path = `/embed/${embed.host.id}/${SLOT}`;
    expect(await getResponse(`${path}/jobs?x=1`)).toEqual({ kind: "redirect", location: `${path}/start?from=%2Fjobs%3Fx%3D1` });
    for (const page of ["/start", "/doctor"]) expect(await getResponse(path + page)).toEqual({ kind: "own" });
    for (const url of [`${path}/settings/account`, `${path}/nothing`, `/embed/unknown/${SLOT}/jobs`, "/embed/nothing"])
      expect(await getResponse(url)).toMatchObject({ kind: "refused", error: { status: 404 } });
  });
});

describe("a program requesting a page", () => {
  const base = "The API's base URL is http://desk.test/api.";

  it.each([
    ["X-API-Key", () => ({ "x-api-key": token.token })],
    ["a bearer token", () => ({ authorization: `Bearer ${token.token}` })],
    ["a token and a session", () => ({ "x-api-key": token.token, cookie: embed.harness.getCookie("owner") })],
    ["a token in a browser", () => ({ authorization: `Bearer ${token.token}`, accept: "text/html" })],
    ["a session but requests JSON", () => ({ cookie: embed.harness.getCookie("owner"), accept: "application/json" })],
  ])("gets a 404 with the API's base URL when it sends %s", async (_name, headers) => {
    for (const url of ["/jobs", "/", "/sign-in", "/share/x", "/settings/account", `/embed/${embed.host.id}/${SLOT}/jobs`]) {
      expect(await isMember(url, headers())).toBe(false);
      const error = { status: 404, code: "NOT_FOUND", message: expect.stringContaining(base) };
      expect(await getResponse(url, headers())).toMatchObject({ kind: "refused", error });
    }
  });

  it.each([
    ["a wrong key", { "x-api-key": "ld_wrong" }, 401],
    ["an empty key", { "x-api-key": "" }, 401],
    ["a wrong bearer token", { authorization: "Bearer ld_wrong" }, 401],
    ["an unknown bearer token", { authorization: "Bearer eyJ" }, 401],
    ["a password", { authorization: "Basic b2xhOnNlY3JldA==", accept: "*/*" }, 401],
    ["no key but requests JSON", { accept: "application/json, */*;q=0.5" }, 401],
    ["two keys", { "x-api-key": "ld_one", authorization: "Bearer ld_two" }, 400],
  ])("gets an error with the API's base URL when it sends %s", async (_name, headers, status) => {
    const error = { status, message: expect.stringContaining(base) };
    expect(await getResponse("/jobs", headers)).toMatchObject({ kind: "refused", error });
  });
});

describe("a member", () => {
  it("is identified by session or token, in the console and in a frame", async () => {
    expect(await isMember("/jobs", { cookie: embed.harness.getCookie("viewer") })).toBe(true);
    expect(await isMember("/jobs", { cookie: "lightdesk.session=forged" })).toBe(false);
    expect(await isMember("/jobs", { cookie: "other=1" })).toBe(false);
    const { cookie, headers } = await embed.enter();
    const path = headers[EMBED_PATH_HEADER] ?? "";
    expect(await isMember(`${path}/jobs`, { cookie, [EMBED_PATH_HEADER]: path })).toBe(true);
    expect(await isMember(`${path}/jobs`, { cookie: embed.harness.getCookie("viewer"), [EMBED_PATH_HEADER]: path })).toBe(false);
    expect(await isMember("/api/jobs", { "x-api-key": token.token })).toBe(true);
  });
});
