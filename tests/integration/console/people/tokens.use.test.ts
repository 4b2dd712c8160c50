// Personal access tokens: their scope, expiry and rate limits.
import { afterAll, beforeEach, describe, expect, test } from "vitest";
import { createColorGraph } from "@/tests/integration/service/support";
import { createHarness } from "@/tests/support/harness";
import { createAccessToken } from "@/tests/support/tokens";
import { createTokenHarness } from "./token-harness";

const { harness, sendRequest, revoke, now, advanceClock } = await createTokenHarness();
afterAll(() => harness.dispose());
beforeEach(async () => {
  advanceClock(10 * 60_000);
  await harness.renewCookies();
});

describe("sending a token", () => {
  test("accepts the token in either header, or the same token in both", async () => {
    const { token } = await createAccessToken(harness, "operator");
    for (const headers of [
      { "x-api-key": token },
      { authorization: `Bearer ${token}` },
      { "x-api-key": token, authorization: `Bearer ${token}` },
    ] as Record<string, string>[])
      expect((await sendRequest(headers)).status).toBe(200);
  });

  test("rejects two different tokens", async () => {
    const [first, second] = [await createAccessToken(harness, "operator"), await createAccessToken(harness, "viewer")];
    for (const bearer of [second.token, "something else"])
      expect(await sendRequest({ ...first.headers, authorization: `Bearer ${bearer}` })).toMatchObject({
        status: 400,
        body: { code: "BAD_REQUEST" },
      });
  });

  test("ignores a session cookie sent with a valid or invalid token", async () => {
    const viewerToken = await createAccessToken(harness, "operator", { role: "viewer" });
    const cookie = harness.getCookie("owner");
    expect((await sendRequest({ ...viewerToken.headers, cookie }, "/api/interrupt", "POST")).body).toMatchObject({ code: "ROLE_TOO_LOW" });
    expect((await sendRequest({ ...viewerToken.headers, cookie }, "/api/console/account")).status).toBe(403);
    expect((await sendRequest({ "x-api-key": "ld_wrong", cookie })).status).toBe(401);
    // Credentials for a proxy (basic authentication) are not tokens.
    expect((await sendRequest({ authorization: "Basic dXNlcjpwYXNz", cookie })).status).toBe(200);
  });

  test("requires no same-site origin, unlike a cookie", async () => {
    const { headers } = await createAccessToken(harness, "operator");
    const crossSiteHeaders = { origin: "https://elsewhere.example", "sec-fetch-site": "cross-site" };
    expect((await sendRequest({ ...headers, ...crossSiteHeaders }, "/api/free", "POST")).status).toBe(200);
    expect((await sendRequest({ cookie: harness.getCookie("operator"), ...crossSiteHeaders }, "/api/free", "POST")).body).toMatchObject({
      code: "FOREIGN_ORIGIN",
    });
    expect((await sendRequest({ ...headers, ...crossSiteHeaders })).headers.get("access-control-allow-origin")).toBeNull();
  });

  test("rejects a token in the URL and never logs it", async () => {
    const { token, headers } = await createAccessToken(harness, "operator");
    for (const query of [`token=${token}`, `api_key=${token.replace("_", "%5F")}`])
      for (const credentials of [headers, { cookie: harness.getCookie("operator") }, {}] as Record<string, string>[])
        expect(await sendRequest(credentials, `/api/user?${query}`)).toMatchObject({ status: 400, body: { code: "BAD_REQUEST" } });
    expect(harness.getLog()).not.toContain(token);
  });

  test("records the last use to the minute", async () => {
    const { id, headers } = await createAccessToken(harness, "operator");
    const getUsedAt = async () => (await harness.console.store.tokens.get(id))?.lastUsedAt;
    expect(await getUsedAt()).toBeUndefined();
    await sendRequest(headers);
    const firstUsedAt = now();
    advanceClock(59_000);
    await sendRequest(headers);
    expect(await getUsedAt()).toBe(firstUsedAt);
    advanceClock(1000);
    await sendRequest(headers);
    expect(await getUsedAt()).toBe(now());
  });
});

describe("an invalid token", () => {
  const refusal = { status: 401, body: { code: "UNAUTHORIZED", message: expect.stringContaining("This token is not valid.") } };

  test("gets the same response when malformed, similar, revoked or expired", async () => {
    const validToken = await createAccessToken(harness, "operator");
    const revoked = await createAccessToken(harness, "operator");
    await revoke("operator", revoked.id);
    const expired = await createAccessToken(harness, "operator", { expiresAt: now() });
    const { key } = await harness.console.serviceKeys().createKey("somebody");
    const last = validToken.token.endsWith("0") ? "1" : "0";
    const invalidTokens = [
      "nonsense",
      key,
      `${validToken.token.slice(0, -1)}${last}`,
      validToken.token.toUpperCase(),
      `${validToken.token}0`,
      revoked.token,
      expired.token,
    ];
    for (const token of invalidTokens) {
      const response = await sendRequest({ "x-api-key": token });
      expect(response, token).toMatchObject(refusal);
      expect(response.headers.get("www-authenticate")).toBe('Bearer realm="Lightdesk"');
    }
    expect((await sendRequest(validToken.headers)).status).toBe(200);
    expect((await sendRequest({ ...validToken.headers, authorization: "bearer" })).status).toBe(200);
  });

  test("stops working exactly at its expiry", async () => {
    const { headers } = await createAccessToken(harness, "operator", { expiresAt: now() + 1000 });
    advanceClock(999);
    expect((await sendRequest(headers)).status).toBe(200);
    advanceClock(1);
    expect(await sendRequest(headers)).toMatchObject(refusal);
  });

  test("is rate limited per IP address, unlike a valid token", async () => {
    const { headers } = await createAccessToken(harness, "operator");
    const addressHeader = { "x-lightdesk-address": "203.0.113.7" };
    const statuses = [];
    for (let count = 0; count < 22; count += 1) statuses.push((await sendRequest({ "x-api-key": "ld_no", ...addressHeader })).status);
    expect(statuses.filter((status) => status === 401)).toHaveLength(20);
    expect(statuses.slice(20)).toEqual([429, 429]);
    expect((await sendRequest({ ...headers, ...addressHeader })).status).toBe(200);
    expect((await sendRequest({ "x-api-key": "ld_no", "x-lightdesk-address": "203.0.113.8" })).status).toBe(401);
  });

  test("follows its member's suspension, removal and lower role", async () => {
    const { store } = harness.console;
    const member = { name: "Lee", role: "admin" as const, passwordHash: "x", createdAt: now() };
    const [first, second] = [
      await store.members.create({ ...member, email: "one@desk.test" }),
      await store.members.create({ ...member, email: "two@desk.test" }),
    ];
    if (!first || !second) throw new Error("no member");
    const firstToken = await createAccessToken(harness, "admin", { memberId: first.id });
    const secondToken = await createAccessToken(harness, "admin", { memberId: second.id });
    await store.members.change(first.id, { role: "viewer" });
    expect((await sendRequest(firstToken.headers)).status).toBe(200);
    expect((await sendRequest(firstToken.headers, "/api/interrupt", "POST")).body).toMatchObject({ code: "ROLE_TOO_LOW" });
    await store.members.change(first.id, { disabled: true });
    expect(await sendRequest(firstToken.headers)).toMatchObject(refusal);
    await store.members.change(first.id, { disabled: false });
    expect((await sendRequest(firstToken.headers)).status).toBe(200);
    await store.members.remove(second.id);
    expect(await sendRequest(secondToken.headers)).toMatchObject(refusal);
    expect(await store.tokens.get(secondToken.id)).toBeUndefined();
  });
});

describe("the scope of a token", () => {
  test("hides other connections and uses its own by default", async () => {
    const otherConnection = await harness.connect("http://127.0.0.1:9", "k");
    const { headers } = await createAccessToken(harness, "operator", { connectionIds: ["embedded"] });
    const unlimitedToken = await createAccessToken(harness, "operator");
    await harness.console.store.members.setLastConnection(harness.getViewer("operator").memberId, otherConnection);
    expect((await sendRequest(headers)).status).toBe(200);
    expect((await sendRequest(headers, "/api/user?connection=embedded")).status).toBe(200);
    expect(await sendRequest(headers, `/api/user?connection=${otherConnection}`)).toMatchObject({
      status: 404,
      body: { code: "NOT_FOUND" },
    });
    expect((await sendRequest(unlimitedToken.headers)).status).toBe(200);
    expect((await sendRequest(unlimitedToken.headers, `/api/user?connection=${otherConnection}`)).status).toBe(502);
    const tokenConnections = (await sendRequest(headers, "/api/console/connections")).body.connections as { id: string }[];
    expect(tokenConnections.map(({ id }) => id)).toEqual(["embedded"]);
  });

  test("reports a deleted default connection and accepts another by id", async () => {
    const { headers } = await createAccessToken(harness, "operator", { connectionId: "gone" });
    expect(await sendRequest(headers)).toMatchObject({ status: 409, body: { code: "NO_CONNECTION" } });
    expect((await sendRequest(headers, "/api/user?connection=embedded")).status).toBe(200);
  });

  test("allows only reads with a read-only token", async () => {
    const { headers } = await createAccessToken(harness, "owner", { operations: "reads" });
    for (const path of ["/api/user", "/api/jobs", "/api/console/queue", "/api/console/runs-by-day"])
      expect((await sendRequest(headers, path)).status).toBe(200);
    for (const path of ["/api/interrupt", "/api/free", "/api/queue", "/api/console/jobs/stop"])
      expect((await sendRequest(headers, path, "POST")).body).toMatchObject({ code: "FORBIDDEN" });
  });

  test("allows only the listed operations", async () => {
    const { headers } = await createAccessToken(harness, "owner", { operations: ["listJobs", "freeMemory"] });
    expect((await sendRequest(headers, "/api/jobs")).status).toBe(200);
    expect((await sendRequest(headers, "/api/free", "POST")).status).toBe(200);
    expect((await sendRequest(headers, "/api/user")).body).toMatchObject({ code: "FORBIDDEN" });
    expect((await sendRequest(headers, "/api/console/queue")).body).toMatchObject({ code: "FORBIDDEN" });
    expect((await sendRequest(headers, "/api/nothing")).status).toBe(404);
  });

  test("removes a token from the submitted extra data and keeps other fields", async () => {
    const { token, headers } = await createAccessToken(harness, "operator");
    const submitResponse = await harness.request("/api/prompt", {
      method: "POST",
      headers,
      json: { prompt: createColorGraph(7), extra_data: { api_key_comfy_org: token, extra_pnginfo: { workflow: { name: "kept" } } } },
    });
    const { prompt_id: id } = (await submitResponse.json()) as { prompt_id: string };
    const response = await sendRequest(headers, `/api/jobs/${id}`);
    expect(response.body.workflow.extra_data).toEqual({ extra_pnginfo: { workflow: { name: "kept" } } });
  });
});

test("documents both token headers in the OpenAPI document", async () => {
  const { headers } = await createAccessToken(harness, "viewer", { operations: ["getUser"] });
  const { body: document } = await sendRequest(headers, "/api/openapi.json");
  expect(document).toMatchObject({
    servers: [{ url: "http://desk.test" }],
    security: [{ ApiKey: [] }, { Bearer: [] }],
    components: { securitySchemes: { ApiKey: { name: "X-API-Key" }, Bearer: { type: "http", scheme: "bearer" } } },
  });
});

test("limits a token's requests separately from its member's", async () => {
  const limitedHarness = await createHarness({ settings: { LIGHTDESK_RATE_LIMIT: "3" }, now }); // replaces the first console
  const { headers } = await createAccessToken(limitedHarness, "operator");
  const statuses = [];
  for (let count = 0; count < 4; count += 1) statuses.push((await limitedHarness.request("/api/user", { headers })).status);
  expect(statuses).toEqual([200, 200, 200, 429]);
  expect((await limitedHarness.request("/api/user", { as: "operator" })).status).toBe(200);
});
