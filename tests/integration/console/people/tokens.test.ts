// Personal access tokens: creation, revocation, scope, expiry and rate limits.
import { beforeEach, describe, expect, test } from "vitest";
import { type Role } from "@/lib/contract/members/roles";
import { createColorGraph } from "@/tests/integration/service/support";
import { createHarness } from "@/tests/support/harness";
import { createAccessToken } from "@/tests/support/tokens";
import { addMember, createToken as createNewToken, DAY_MS } from "./people-harness";

let now = 1_800_000_000_000;
const harness = await createHarness({ now: () => now });
beforeEach(async () => {
  now += 10 * 60_000;
  await harness.renewCookies();
});

const createToken = (as: Role, change?: object) => createNewToken(harness, as, change);
const revoke = (as: Role, id: string) => harness.request(`/api/console/tokens/${id}`, { as, method: "DELETE" });
async function sendRequest(headers: Record<string, string>, path = "/api/user", method = "GET") {
  const response = await harness.request(path, { method, headers });
  const text = await response.text();
  return { status: response.status, headers: response.headers, body: text === "" ? undefined : JSON.parse(text) };
}

describe("creating a token", () => {
  test("returns the token once and stores only its hash", async () => {
    const { status, body: created } = await createToken("operator");
    expect(status).toBe(201);
    expect(created.token).toMatch(/^ld_[0-9a-f]{64}$/);
    expect(created.view).toMatchObject({ name: "render farm", role: "operator", state: "active", expiresAt: now + 30 * DAY_MS });
    expect((await sendRequest({ "x-api-key": created.token })).status).toBe(200);
    const rows = await harness.console.store.tokens.list();
    expect(JSON.stringify(rows)).not.toContain(created.token);
    expect(harness.getLog()).not.toContain(created.token);
    expect(JSON.stringify(await harness.console.store.audit.listNewest(50))).not.toContain(created.token);
  });

  test.each<[string, object, number]>([
    ["a role above the member's own", { role: "admin" }, 403],
    ["an unknown connection", { connection: "nothing" }, 400],
    ["connections without the default one", { connections: ["nothing"] }, 400],
    ["an unknown operation", { operations: ["createToken"] }, 400],
    ["no expiry", { days: undefined }, 400],
    ["an unsupported number of days", { days: 8 }, 400],
    ["no connection", { connection: undefined }, 400],
    ["no name", { name: " " }, 400],
  ])("rejects %s", async (_label, change, status) => {
    expect((await createToken("operator", change)).status).toBe(status);
  });

  test("rejects a name in use, even in parallel requests", async () => {
    const responses = await Promise.all([1, 2, 3].map(() => createToken("operator", { name: "nightly" })));
    expect(responses.map(({ status }) => status).sort()).toEqual([201, 400, 400]);
    expect(responses.find(({ status }) => status === 400)?.body.message).toMatch(/^name: /);
    expect((await createToken("admin", { name: "nightly" })).status).toBe(201);
    await revoke("operator", responses.find(({ status }) => status === 201)?.body.view.id ?? "");
    expect((await createToken("operator", { name: "nightly" })).status).toBe(201);
  });

  test("rejects another member's private connection", async () => {
    const { connections } = harness.console.store;
    const { memberId } = harness.getViewer("admin");
    const otherConnection = await connections.create({ name: "Theirs", baseUrl: "http://127.0.0.1:9", memberId, createdAt: now });
    expect((await createToken("operator", { connection: otherConnection.id })).status).toBe(400);
    expect((await createToken("admin", { connection: otherConnection.id })).status).toBe(201);
    await connections.remove(otherConnection.id);
  });

  test("rejects requests made with a token and more than 50 active tokens", async () => {
    const { headers } = await createAccessToken(harness, "owner");
    expect(await sendRequest({ ...headers, "content-type": "application/json" }, "/api/console/tokens", "POST")).toMatchObject({
      status: 403,
      body: { code: "FORBIDDEN" },
    });
    const responses = await Promise.all(
      Array.from({ length: 51 }, (_, count) => createToken("viewer", { role: "viewer", name: `one of many ${count}` })),
    );
    expect(responses.filter(({ status }) => status === 201)).toHaveLength(50);
    expect(responses.find(({ status }) => status !== 201)).toMatchObject({ status: 409, body: { code: "CONFLICT" } });
    for (const { body: created } of responses) if (created.view) await revoke("viewer", created.view.id);
    expect((await createToken("viewer", { role: "viewer" })).status).toBe(201);
  });
});

describe("revoking a token", () => {
  test("succeeds for its member, an admin or the owner", async () => {
    for (const as of ["operator", "admin", "owner"] as const) {
      const { id, headers } = await createAccessToken(harness, "operator");
      expect((await revoke("viewer", id)).status).toBe(404);
      expect((await sendRequest(headers)).status).toBe(200);
      expect((await revoke(as, id)).status).toBe(204);
      expect((await sendRequest(headers)).status).toBe(401);
    }
    expect((await revoke("owner", "nothing")).status).toBe(404);
  });

  test("doesn't happen when its member's password changes", async () => {
    const { headers } = await createAccessToken(harness, "operator");
    await harness.console.store.members.changeAccount(harness.getViewer("operator").memberId, { passwordHash: "x" });
    expect((await sendRequest(headers)).status).toBe(200);
  });
});

test("logs token requests with the member and keeps the hash chain valid", async () => {
  const { headers } = await createAccessToken(harness, "operator", { name: "night\u202eshift" });
  await sendRequest(headers, "/api/free", "POST");
  await harness.request("/api/free", { as: "operator", method: "POST" });
  const response = await harness.request("/api/console/audit?limit=2", { as: "admin" });
  const { entries } = (await response.json()) as { entries: object[] };
  expect(entries[1]).toMatchObject({
    member: { name: "operator" },
    action: "freeMemory",
    via: expect.stringMatching(/^token night.?shift$/),
  });
  expect(entries[0]).not.toHaveProperty("via");
  expect(JSON.stringify(entries)).not.toContain("\u202e");
  expect(await harness.console.store.audit.verify()).toMatchObject({ rows: expect.any(Number) });
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
    const { headers } = await createAccessToken(harness, "operator", { role: "viewer" });
    const cookie = harness.getCookie("owner");
    expect((await sendRequest({ ...headers, cookie }, "/api/interrupt", "POST")).body).toMatchObject({ code: "ROLE_TOO_LOW" });
    expect((await sendRequest({ "x-api-key": "ld_wrong", cookie })).status).toBe(401);
    // Credentials for a proxy (basic authentication) are not tokens.
    expect((await sendRequest({ authorization: "Basic dXNlcjpwYXNz", cookie })).status).toBe(200);
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
    const firstUsedAt = now;
    now += 59_000;
    await sendRequest(headers);
    expect(await getUsedAt()).toBe(firstUsedAt);
    now += 1000;
    await sendRequest(headers);
    expect(await getUsedAt()).toBe(now);
  });
});

describe("an invalid token", () => {
  const refusal = { status: 401, body: { code: "UNAUTHORIZED", message: expect.stringContaining("This token is not valid.") } };

  test("gets the same response when malformed, similar, revoked or expired", async () => {
    const validToken = await createAccessToken(harness, "operator", { expiresAt: now + 1 });
    const revoked = await createAccessToken(harness, "operator");
    await revoke("operator", revoked.id);
    const expired = await createAccessToken(harness, "operator", { expiresAt: now });
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
    const { id: memberId } = await addMember(harness, "Lee", "admin");
    const { id, headers } = await createAccessToken(harness, "admin", { memberId });
    await store.members.change(memberId, { role: "viewer" });
    expect((await sendRequest(headers)).status).toBe(200);
    expect((await sendRequest(headers, "/api/interrupt", "POST")).body).toMatchObject({ code: "ROLE_TOO_LOW" });
    await store.members.change(memberId, { disabled: true });
    expect(await sendRequest(headers)).toMatchObject(refusal);
    await store.members.change(memberId, { disabled: false });
    expect((await sendRequest(headers)).status).toBe(200);
    await store.members.remove(memberId);
    expect(await sendRequest(headers)).toMatchObject(refusal);
    expect(await store.tokens.get(id)).toBeUndefined();
  });
});

describe("the scope of a token", () => {
  test("hides other connections and uses its own by default", async () => {
    const otherConnection = await harness.connect("http://127.0.0.1:9", "k");
    const { headers } = await createAccessToken(harness, "operator", { connectionIds: ["embedded"] });
    const unlimitedToken = await createAccessToken(harness, "operator");
    await harness.console.store.members.setLastConnection(harness.getViewer("operator").memberId, otherConnection);
    expect((await sendRequest(headers)).status).toBe(200);
    const notFound = { status: 404, body: { code: "NOT_FOUND" } };
    expect(await sendRequest(headers, `/api/user?connection=${otherConnection}`)).toMatchObject(notFound);
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

  test("removes a token from the submitted extra data and keeps other fields", async () => {
    const { token, headers } = await createAccessToken(harness, "operator");
    const submitResponse = await harness.request("/api/prompt", {
      method: "POST",
      headers,
      json: { prompt: createColorGraph(7), extra_data: { api_key_comfy_org: token, extra_pnginfo: { workflow: { name: "kept" } } } },
    });
    const { prompt_id: id } = (await submitResponse.json()) as { prompt_id: string };
    const { body } = await sendRequest(headers, `/api/jobs/${id}`);
    expect(body.workflow.extra_data).toEqual({ extra_pnginfo: { workflow: { name: "kept" } } });
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
  const limitedHarness = await createHarness({ settings: { LIGHTDESK_RATE_LIMIT: "3" }, now: () => now }); // replaces the first console
  const { headers } = await createAccessToken(limitedHarness, "operator");
  const statuses = [];
  for (let count = 0; count < 4; count += 1) statuses.push((await limitedHarness.request("/api/user", { headers })).status);
  expect(statuses).toEqual([200, 200, 200, 429]);
  expect((await limitedHarness.request("/api/user", { as: "operator" })).status).toBe(200);
});
