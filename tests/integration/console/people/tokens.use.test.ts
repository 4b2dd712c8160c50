// Personal access tokens: what a token can access, and when it stops working.
import { afterAll, beforeEach, describe, expect, test } from "vitest";
import { canvas } from "@/tests/integration/service/support";
import { createHarness } from "@/tests/support/harness";
import { makeToken } from "@/tests/support/tokens";
import { createTokenWorld } from "./token-world";

const { harness, ask, revoke, now, pass } = await createTokenWorld();
afterAll(() => harness.dispose());
beforeEach(async () => {
  pass(10 * 60_000);
  await harness.renewCookies();
});

describe("sending a token", () => {
  test("works in either header, and in both where they are the same", async () => {
    const { token } = await makeToken(harness, "operator");
    for (const headers of [
      { "x-api-key": token },
      { authorization: `Bearer ${token}` },
      { "x-api-key": token, authorization: `Bearer ${token}` },
    ] as Record<string, string>[])
      expect((await ask(headers)).status).toBe(200);
  });

  test("refuses two different tokens", async () => {
    const [first, second] = [await makeToken(harness, "operator"), await makeToken(harness, "viewer")];
    for (const bearer of [second.token, "something else"])
      expect(await ask({ ...first.headers, authorization: `Bearer ${bearer}` })).toMatchObject({
        status: 400,
        body: { code: "BAD_REQUEST" },
      });
  });

  test("ignores a cookie next to it, whether the token is right or wrong", async () => {
    const reader = await makeToken(harness, "operator", { role: "viewer" });
    const cookie = harness.cookieOf("owner");
    expect((await ask({ ...reader.headers, cookie }, "/api/interrupt", "POST")).body).toMatchObject({ code: "ROLE_TOO_LOW" });
    expect((await ask({ ...reader.headers, cookie }, "/api/console/account")).status).toBe(403);
    expect((await ask({ "x-api-key": "ld_wrong", cookie })).status).toBe(401);
    // Credentials for a proxy (basic authentication) are not tokens.
    expect((await ask({ authorization: "Basic dXNlcjpwYXNz", cookie })).status).toBe(200);
  });

  test("needs no same-site origin, unlike a cookie", async () => {
    const { headers } = await makeToken(harness, "operator");
    const foreign = { origin: "https://elsewhere.example", "sec-fetch-site": "cross-site" };
    expect((await ask({ ...headers, ...foreign }, "/api/free", "POST")).status).toBe(200);
    expect((await ask({ cookie: harness.cookieOf("operator"), ...foreign }, "/api/free", "POST")).body).toMatchObject({
      code: "FOREIGN_ORIGIN",
    });
    expect((await ask({ ...headers, ...foreign })).headers.get("access-control-allow-origin")).toBeNull();
  });

  test("refuses a token in the address and logs it nowhere", async () => {
    const { token, headers } = await makeToken(harness, "operator");
    for (const query of [`token=${token}`, `api_key=${token.replace("_", "%5F")}`])
      for (const credentials of [headers, { cookie: harness.cookieOf("operator") }, {}] as Record<string, string>[])
        expect(await ask(credentials, `/api/user?${query}`)).toMatchObject({ status: 400, body: { code: "BAD_REQUEST" } });
    expect(harness.log()).not.toContain(token);
  });

  test("shows when it was used last, to the minute", async () => {
    const { id, headers } = await makeToken(harness, "operator");
    const getUsedAt = async () => (await harness.console.store.tokens.get(id))?.lastUsedAt;
    expect(await getUsedAt()).toBeUndefined();
    await ask(headers);
    const first = now();
    pass(59_000);
    await ask(headers);
    expect(await getUsedAt()).toBe(first);
    pass(1000);
    await ask(headers);
    expect(await getUsedAt()).toBe(now());
  });
});

describe("an invalid token", () => {
  const refusal = { status: 401, body: { code: "UNAUTHORIZED", message: expect.stringContaining("This token is not valid.") } };

  test("is refused alike when wrong, malformed, similar, revoked or expired", async () => {
    const good = await makeToken(harness, "operator");
    const revoked = await makeToken(harness, "operator");
    await revoke("operator", revoked.id);
    const expired = await makeToken(harness, "operator", { expiresAt: now() });
    const { key } = await harness.console.serviceKeys().createKey("somebody");
    const last = good.token.endsWith("0") ? "1" : "0";
    const wrongTokens = [
      "nonsense",
      key,
      `${good.token.slice(0, -1)}${last}`,
      good.token.toUpperCase(),
      `${good.token}0`,
      revoked.token,
      expired.token,
    ];
    for (const token of wrongTokens) {
      const response = await ask({ "x-api-key": token });
      expect(response, token).toMatchObject(refusal);
      expect(response.headers.get("www-authenticate")).toBe('Bearer realm="Lightdesk"');
    }
    expect((await ask(good.headers)).status).toBe(200);
    expect((await ask({ ...good.headers, authorization: "bearer" })).status).toBe(200);
  });

  test("stops working at its expiry, and not before", async () => {
    const { headers } = await makeToken(harness, "operator", { expiresAt: now() + 1000 });
    pass(999);
    expect((await ask(headers)).status).toBe(200);
    pass(1);
    expect(await ask(headers)).toMatchObject(refusal);
  });

  test("is delayed after many from one address, unlike a valid one", async () => {
    const { headers } = await makeToken(harness, "operator");
    const from = { "x-lightdesk-address": "203.0.113.7" };
    const statuses = [];
    for (let count = 0; count < 22; count += 1) statuses.push((await ask({ "x-api-key": "ld_no", ...from })).status);
    expect(statuses.filter((status) => status === 401)).toHaveLength(20);
    expect(statuses.slice(20)).toEqual([429, 429]);
    expect((await ask({ ...headers, ...from })).status).toBe(200);
    expect((await ask({ "x-api-key": "ld_no", "x-lightdesk-address": "203.0.113.8" })).status).toBe(401);
  });

  test("stops with its member's suspension or removal and follows a lower role", async () => {
    const { store } = harness.console;
    const member = { name: "Going", role: "admin" as const, passwordHash: "x", createdAt: now() };
    const [first, second] = [
      await store.members.create({ ...member, email: "one@desk.test" }),
      await store.members.create({ ...member, email: "two@desk.test" }),
    ];
    if (!first || !second) throw new Error("no member");
    const ofOne = await makeToken(harness, "admin", { memberId: first.id });
    const ofOther = await makeToken(harness, "admin", { memberId: second.id });
    await store.members.change(first.id, { role: "viewer" });
    expect((await ask(ofOne.headers)).status).toBe(200);
    expect((await ask(ofOne.headers, "/api/interrupt", "POST")).body).toMatchObject({ code: "ROLE_TOO_LOW" });
    await store.members.change(first.id, { disabled: true });
    expect(await ask(ofOne.headers)).toMatchObject(refusal);
    await store.members.change(first.id, { disabled: false });
    expect((await ask(ofOne.headers)).status).toBe(200);
    await store.members.remove(second.id);
    expect(await ask(ofOther.headers)).toMatchObject(refusal);
    expect(await store.tokens.get(ofOther.id)).toBeUndefined();
  });
});

describe("the scope of a token", () => {
  test("hides other connections and uses its own by default", async () => {
    const otherConnection = await harness.connect("http://127.0.0.1:9", "k");
    const { headers } = await makeToken(harness, "operator", { connectionIds: ["embedded"] });
    const both = await makeToken(harness, "operator");
    await harness.console.store.members.setLastConnection(harness.viewerOf("operator").memberId, otherConnection);
    expect((await ask(headers)).status).toBe(200);
    expect((await ask(headers, "/api/user?connection=embedded")).status).toBe(200);
    expect(await ask(headers, `/api/user?connection=${otherConnection}`)).toMatchObject({ status: 404, body: { code: "NOT_FOUND" } });
    expect((await ask(both.headers)).status).toBe(200);
    expect((await ask(both.headers, `/api/user?connection=${otherConnection}`)).status).toBe(502);
    const tokenConnections = (await ask(headers, "/api/console/connections")).body.connections as { id: string }[];
    expect(tokenConnections.map(({ id }) => id)).toEqual(["embedded"]);
  });

  test("explains a missing connection and accepts another by name", async () => {
    const { headers } = await makeToken(harness, "operator", { connectionId: "gone" });
    expect(await ask(headers)).toMatchObject({ status: 409, body: { code: "NO_CONNECTION" } });
    expect((await ask(headers, "/api/user?connection=embedded")).status).toBe(200);
  });

  test("allows only reads for a read token", async () => {
    const { headers } = await makeToken(harness, "owner", { operations: "reads" });
    for (const path of ["/api/user", "/api/jobs", "/api/console/queue", "/api/console/runs-by-day"])
      expect((await ask(headers, path)).status).toBe(200);
    for (const path of ["/api/interrupt", "/api/free", "/api/queue", "/api/console/jobs/stop"])
      expect((await ask(headers, path, "POST")).body).toMatchObject({ code: "FORBIDDEN" });
  });

  test("allows only its operations", async () => {
    const { headers } = await makeToken(harness, "owner", { operations: ["listJobs", "freeMemory"] });
    expect((await ask(headers, "/api/jobs")).status).toBe(200);
    expect((await ask(headers, "/api/free", "POST")).status).toBe(200);
    expect((await ask(headers, "/api/user")).body).toMatchObject({ code: "FORBIDDEN" });
    expect((await ask(headers, "/api/console/queue")).body).toMatchObject({ code: "FORBIDDEN" });
    expect((await ask(headers, "/api/nothing")).status).toBe(404);
  });

  test("strips a token next to a graph and forwards all other fields", async () => {
    const { token, headers } = await makeToken(harness, "operator");
    const submitResponse = await harness.request("/api/prompt", {
      method: "POST",
      headers,
      json: { prompt: canvas(7), extra_data: { api_key_comfy_org: token, extra_pnginfo: { workflow: { name: "kept" } } } },
    });
    const { prompt_id: id } = (await submitResponse.json()) as { prompt_id: string };
    const response = await ask(headers, `/api/jobs/${id}`);
    expect(response.body.workflow.extra_data).toEqual({ extra_pnginfo: { workflow: { name: "kept" } } });
  });
});

test("documents tokens in both headers", async () => {
  const { headers } = await makeToken(harness, "viewer", { operations: ["getUser"] });
  const { body: document } = await ask(headers, "/api/openapi.json");
  expect(document).toMatchObject({
    servers: [{ url: "http://desk.test" }],
    security: [{ ApiKey: [] }, { Bearer: [] }],
    components: { securitySchemes: { ApiKey: { name: "X-API-Key" }, Bearer: { type: "http", scheme: "bearer" } } },
  });
});

test("counts its own requests, so that its member is not held up", async () => {
  const bounded = await createHarness({ settings: { LIGHTDESK_RATE_LIMIT: "3" }, now }); // replaces the first console
  const { headers } = await makeToken(bounded, "operator");
  const statuses = [];
  for (let count = 0; count < 4; count += 1) statuses.push((await bounded.request("/api/user", { headers })).status);
  expect(statuses).toEqual([200, 200, 200, 429]);
  expect((await bounded.request("/api/user", { as: "operator" })).status).toBe(200);
});
