// Clients without an account cause no errors, log lines or redirects at /api/auth.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createHarness, HOST, PASSWORD } from "@/tests/support/harness";

process.env.NEXTAUTH_URL = `http://${HOST}/api/auth`;
const harness = await createHarness({ settings: { LIGHTDESK_PUBLIC_URL: `http://${HOST}` } });

const longValue = "x".repeat(60_000);
const foreignUrls = ["\\\\evil", "//evil.example", "/\\evil.example", "https://evil.example"];
const returnUrls = [...foreignUrls, "/jobs\r\nset-cookie: a=b", "javascript:1", longValue, "%00", ""];

async function getRefusal(path: string, { method, fields }: RequestOptions) {
  const response = await harness.request(path, { method, body: fields && new URLSearchParams(fields) });
  return [response.status, response.headers.get("location"), (await response.json()).code];
}
type RequestOptions = { method?: string; fields?: Record<string, string> | URLSearchParams };

/** Returns a CSRF token with its cookie. */
async function getCsrfToken() {
  const response = await harness.request("/api/auth/csrf");
  const { csrfToken }: { csrfToken: string } = await response.json();
  const cookies = response.headers.getSetCookie().map((line) => line.split(";")[0]);
  return { csrfToken, cookie: cookies.join("; ") };
}

describe("without an account", () => {
  let logLength: number;
  beforeAll(() => (logLength = harness.getLog().length));
  afterAll(() => {
    expect(harness.getLog().slice(logLength)).not.toMatch(/"level":(40|50)/);
  });

  const unknownSteps = {
    GET: [
      ...["_log", "signin", "callback", "callback/unknown?code=1&state=2", "error?error=Configuration", "error/CredentialsSignin"],
      ...["verify-request", "__proto__", "constructor/prototype", "csrf/more", "session/credentials"],
    ],
    POST: [
      ...["_log", "signin", "signin/credentials", "signin/unknown", "callback/unknown", "callback/credentials/more"],
      ...["verify-request", "email"],
    ],
  };
  it.each(Object.entries(unknownSteps))("returns 404 for unknown steps with %s", async (method, steps) => {
    const fields = method === "POST" ? { level: "error", code: longValue } : undefined;
    for (const step of steps)
      expect([step, ...(await getRefusal(`/api/auth/${step}`, { method, fields }))]).toEqual([step, 404, null, "NOT_FOUND"]);
  });

  it("returns 405 for another method", async () => {
    const requests = ["GET callback/credentials", "GET signout", "POST csrf", "POST session", "POST providers"];
    for (const request of requests) {
      const [method, step] = request.split(" ");
      const refusal = await getRefusal(`/api/auth/${step}`, { method });
      expect([request, ...refusal]).toEqual([request, 405, null, "METHOD_NOT_ALLOWED"]);
    }
  });

  it.each(["csrf", "session", "providers"])("ignores the return URL in GET %s", async (step) => {
    for (const callbackUrl of returnUrls) {
      const query = new URLSearchParams({ callbackUrl, csrf: "true", error: "x" });
      query.append("callbackUrl", "//evil");
      const cookie = `lightdesk.callback=${encodeURIComponent(callbackUrl.slice(0, 3000))}; lightdesk.session=nonsense; lightdesk.csrf=%`;
      const response = await harness.request(`/api/auth/${step}?${query.toString()}`, { cookie });
      expect([response.status, response.headers.get("location")]).toEqual([200, null]);
      expect(JSON.stringify([await response.json(), response.headers.getSetCookie()])).not.toMatch(/evil/);
    }
  });

  it.each(["callback/credentials", "signout"])("rejects POST %s without a CSRF token", async (step) => {
    for (const callbackUrl of returnUrls) {
      const fields = new URLSearchParams({ callbackUrl, csrfToken: "a|b", json: "x" });
      fields.append("csrfToken", "c");
      const path = `/api/auth/${step}?callbackUrl=${encodeURIComponent(callbackUrl)}`;
      expect(await getRefusal(path, { method: "POST", fields })).toEqual([400, null, "BAD_REQUEST"]);
    }
  });
});

it("redirects only to the console after sign-in", async () => {
  for (const callbackUrl of foreignUrls) {
    const { csrfToken, cookie } = await getCsrfToken();
    const fields = { csrfToken, email: "viewer@desk.test", password: PASSWORD, callbackUrl };
    const path = `/api/auth/callback/credentials?callbackUrl=${encodeURIComponent(callbackUrl)}`;
    const response = await harness.request(path, { method: "POST", cookie, body: new URLSearchParams(fields) });
    expect([response.status, await response.json()]).toEqual([200, { url: `http://${HOST}` }]);
    expect(response.headers.getSetCookie().join()).toContain("lightdesk.session=");
  }
});

it("returns 401 for a wrong password and 429 with Retry-After beyond the limit", async () => {
  const { csrfToken, cookie } = await getCsrfToken();
  const fields = { csrfToken, email: "nobody@desk.test", password: "wrong" };
  const attempt = () => harness.request("/api/auth/callback/credentials", { method: "POST", cookie, body: new URLSearchParams(fields) });
  for (let count = 0; count < 5; count += 1) expect((await attempt()).status).toBe(401);
  const limitedResponse = await attempt();
  expect([limitedResponse.status, Number(limitedResponse.headers.get("retry-after")) > 0]).toEqual([429, true]);
});

it("lets only a browser that signed in before try again beyond the limit", async () => {
  const [email, address] = ["viewer@desk.test", "203.0.113.9"];
  const signIn = async (device = "lightdesk.device=forged") => {
    const { csrfToken, cookie } = await getCsrfToken();
    const body = new URLSearchParams({ csrfToken, email, password: PASSWORD });
    const options = { method: "POST", cookie: `${cookie}; ${device}`, body, headers: { "x-lightdesk-address": address } };
    return harness.request("/api/auth/callback/credentials", options);
  };
  const deviceCookie = (await signIn()).headers.getSetCookie().find((line) => line.startsWith("lightdesk.device="));
  for (let count = 0; count < 5; count += 1) await harness.console.signInLimits.consume({ email, address });
  expect([(await signIn()).status, (await signIn(deviceCookie?.split(";")[0])).status]).toEqual([429, 200]);
});
