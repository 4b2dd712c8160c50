// Personal access tokens: who makes one, what it opens, and when it opens nothing any more.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { type TokenMade } from "@/lib/contract/tokens";
import { createHarness, type Harness } from "@/tests/support/harness";
import { makeToken } from "@/tests/support/tokens";
import { canvas } from "../service/support";

const DAY_MS = 24 * 60 * 60_000;
let now = 1_800_000_000_000;
let harness: Harness;
beforeAll(async () => {
  harness = await createHarness({ now: () => now });
});
afterAll(() => harness.dispose());
beforeEach(async () => {
  now += 10 * 60_000;
  await harness.renewCookies();
});

const body = { name: "render farm", role: "operator", connection: "embedded", operations: "all", days: 30 };
const make = async (as: "viewer" | "operator" | "admin" | "owner", change: object = {}) => {
  const answer = await harness.request("/api/console/tokens", { as, method: "POST", json: { ...body, ...change } });
  return { status: answer.status, body: (await answer.json()) as TokenMade & { code?: string; message?: string } };
};
const ask = async (headers: Record<string, string>, path = "/api/user", method = "GET") => {
  const answer = await harness.request(path, { method, headers });
  const text = await answer.text();
  return { status: answer.status, headers: answer.headers, body: text === "" ? undefined : JSON.parse(text) };
};
const revoke = (as: "viewer" | "operator" | "admin" | "owner", id: string) =>
  harness.request(`/api/console/tokens/${id}`, { as, method: "DELETE" });

describe("making one", () => {
  test("answers it once, keeps a hash of it alone, and says what it may and until when", async () => {
    const { status, body: made } = await make("operator");
    expect(status).toBe(201);
    expect(made.token).toMatch(/^ld_[0-9a-f]{64}$/);
    expect(made.view).toMatchObject({ name: "render farm", role: "operator", state: "active", expiresAt: now + 30 * DAY_MS });
    expect((await ask({ "x-api-key": made.token })).status).toBe(200);
    const rows = await harness.console.store.tokens.list();
    expect(JSON.stringify(rows)).not.toContain(made.token);
    expect(harness.log()).not.toContain(made.token);
    expect(JSON.stringify(await harness.console.store.audit.listNewest(50))).not.toContain(made.token);
  });

  test.each<[string, object, number]>([
    ["a role above one's own", { role: "admin" }, 403],
    ["a connection that is none", { connection: "nothing" }, 400],
    ["connections without the usual one", { connections: ["nothing"] }, 400],
    ["an operation that is none", { operations: ["createToken"] }, 400],
    ["no expiry chosen", { days: undefined }, 400],
    ["another number of days", { days: 8 }, 400],
    ["no connection chosen", { connection: undefined }, 400],
    ["no name", { name: " " }, 400],
  ])("is refused with %s", async (_what, change, status) => {
    expect((await make("operator", change)).status).toBe(status);
  });

  test("is refused under the name of another one of one's own that works, however many are made at once", async () => {
    const made = await Promise.all([1, 2, 3].map(() => make("operator", { name: "nightly" })));
    expect(made.map(({ status }) => status).sort()).toEqual([201, 400, 400]);
    expect(made.find(({ status }) => status === 400)?.body.message).toMatch(/^name: /);
    expect((await make("admin", { name: "nightly" })).status).toBe(201);
    await revoke("operator", made.find(({ status }) => status === 201)?.body.view.id ?? "");
    expect((await make("operator", { name: "nightly" })).status).toBe(201);
  });

  test("is refused with a connection that another member keeps for themselves", async () => {
    const { connections } = harness.console.store;
    const { memberId } = harness.viewerOf("admin");
    const theirs = await connections.create({ name: "Theirs", baseUrl: "http://127.0.0.1:9", memberId, createdAt: now });
    expect((await make("operator", { connection: theirs.id })).status).toBe(400);
    expect((await make("admin", { connection: theirs.id })).status).toBe(201);
    await connections.remove(theirs.id);
  });

  test("is refused to a token, and beyond fifty that work", async () => {
    const { headers } = await makeToken(harness, "owner");
    expect(await ask({ ...headers, "content-type": "application/json" }, "/api/console/tokens", "POST")).toMatchObject({
      status: 403,
      body: { code: "FORBIDDEN" },
    });
    const all = await Promise.all(
      Array.from({ length: 51 }, (_, count) => make("viewer", { role: "viewer", name: `one of many ${count}` })),
    );
    expect(all.filter(({ status }) => status === 201)).toHaveLength(50);
    expect(all.find(({ status }) => status !== 201)).toMatchObject({ status: 409, body: { code: "CONFLICT" } });
    for (const { body: made } of all) if (made.view) await revoke("viewer", made.view.id);
    expect((await make("viewer", { role: "viewer" })).status).toBe(201);
  });
});

describe("bringing one", () => {
  test("works in either header, and in both where they are the same", async () => {
    const { token } = await makeToken(harness, "operator");
    for (const headers of [
      { "x-api-key": token },
      { authorization: `Bearer ${token}` },
      { "x-api-key": token, authorization: `Bearer ${token}` },
    ] as Record<string, string>[])
      expect((await ask(headers)).status).toBe(200);
  });

  test("two that differ are refused, whichever of them would do", async () => {
    const [one, other] = [await makeToken(harness, "operator"), await makeToken(harness, "viewer")];
    for (const bearer of [other.token, "something else"])
      expect(await ask({ ...one.headers, authorization: `Bearer ${bearer}` })).toMatchObject({
        status: 400,
        body: { code: "BAD_REQUEST" },
      });
  });

  test("a cookie beside it counts for nothing: neither for a right, nor against it, nor in place of a wrong one", async () => {
    const reader = await makeToken(harness, "operator", { role: "viewer" });
    const cookie = harness.cookieOf("owner");
    expect((await ask({ ...reader.headers, cookie }, "/api/interrupt", "POST")).body).toMatchObject({ code: "ROLE_TOO_LOW" });
    expect((await ask({ ...reader.headers, cookie }, "/api/console/account")).status).toBe(403);
    expect((await ask({ "x-api-key": "ld_wrong", cookie })).status).toBe(401);
    // What a proxy in front asks of browsers is no token.
    expect((await ask({ authorization: "Basic dXNlcjpwYXNz", cookie })).status).toBe(200);
  });

  test("needs no origin of ours, which a cookie does", async () => {
    const { headers } = await makeToken(harness, "operator");
    const foreign = { origin: "https://elsewhere.example", "sec-fetch-site": "cross-site" };
    expect((await ask({ ...headers, ...foreign }, "/api/free", "POST")).status).toBe(200);
    expect((await ask({ cookie: harness.cookieOf("operator"), ...foreign }, "/api/free", "POST")).body).toMatchObject({
      code: "FOREIGN_ORIGIN",
    });
    expect((await ask({ ...headers, ...foreign })).headers.get("access-control-allow-origin")).toBeNull();
  });

  test("in the address is refused, and nowhere written down", async () => {
    const { token, headers } = await makeToken(harness, "operator");
    for (const query of [`token=${token}`, `api_key=${token.replace("_", "%5F")}`])
      for (const sent of [headers, { cookie: harness.cookieOf("operator") }, {}] as Record<string, string>[])
        expect(await ask(sent, `/api/user?${query}`)).toMatchObject({ status: 400, body: { code: "BAD_REQUEST" } });
    expect(harness.log()).not.toContain(token);
  });

  test("shows when it was used last, to the minute", async () => {
    const { id, headers } = await makeToken(harness, "operator");
    const usedAt = async () => (await harness.console.store.tokens.get(id))?.lastUsedAt;
    expect(await usedAt()).toBeUndefined();
    await ask(headers);
    const first = now;
    now += 59_000;
    await ask(headers);
    expect(await usedAt()).toBe(first);
    now += 1000;
    await ask(headers);
    expect(await usedAt()).toBe(now);
  });
});

describe("a token that is no good", () => {
  const refusal = { status: 401, body: { code: "UNAUTHORIZED", message: expect.stringContaining("This token is not valid here.") } };

  test("is refused alike whether it is wrong, of another shape, near another, revoked or expired", async () => {
    const good = await makeToken(harness, "operator");
    const revoked = await makeToken(harness, "operator");
    await revoke("operator", revoked.id);
    const expired = await makeToken(harness, "operator", { expiresAt: now });
    const { key } = harness.console.serviceKeys().createKey("somebody");
    const last = good.token.endsWith("0") ? "1" : "0";
    const wrong = [
      "nonsense",
      key,
      `${good.token.slice(0, -1)}${last}`,
      good.token.toUpperCase(),
      `${good.token}0`,
      revoked.token,
      expired.token,
    ];
    for (const token of wrong) {
      const answer = await ask({ "x-api-key": token });
      expect(answer, token).toMatchObject(refusal);
      expect(answer.headers.get("www-authenticate")).toBe('Bearer realm="Lightdesk"');
    }
    expect((await ask(good.headers)).status).toBe(200);
    expect((await ask({ ...good.headers, authorization: "bearer" })).status).toBe(200);
  });

  test("stops working at its expiry, and not before", async () => {
    const { headers } = await makeToken(harness, "operator", { expiresAt: now + 1000 });
    now += 999;
    expect((await ask(headers)).status).toBe(200);
    now += 1;
    expect(await ask(headers)).toMatchObject(refusal);
  });

  test("is held up after many from one address, where a right one still passes", async () => {
    const { headers } = await makeToken(harness, "operator");
    const from = { "x-lightdesk-address": "203.0.113.7" };
    const statuses = [];
    for (let count = 0; count < 22; count += 1) statuses.push((await ask({ "x-api-key": "ld_no", ...from })).status);
    expect(statuses.filter((status) => status === 401)).toHaveLength(20);
    expect(statuses.slice(20)).toEqual([429, 429]);
    expect((await ask({ ...headers, ...from })).status).toBe(200);
    expect((await ask({ "x-api-key": "ld_no", "x-lightdesk-address": "203.0.113.8" })).status).toBe(401);
  });

  test("opens nothing once its member was suspended or removed, and less once they were lowered", async () => {
    const { store } = harness.console;
    const given = { name: "Going", role: "admin" as const, passwordHash: "x", createdAt: now };
    const [one, other] = [
      await store.members.create({ ...given, email: "one@desk.test" }),
      await store.members.create({ ...given, email: "two@desk.test" }),
    ];
    if (!one || !other) throw new Error("no member");
    const ofOne = await makeToken(harness, "admin", { memberId: one.id });
    const ofOther = await makeToken(harness, "admin", { memberId: other.id });
    await store.members.change(one.id, { role: "viewer" });
    expect((await ask(ofOne.headers)).status).toBe(200);
    expect((await ask(ofOne.headers, "/api/interrupt", "POST")).body).toMatchObject({ code: "ROLE_TOO_LOW" });
    await store.members.change(one.id, { disabled: true });
    expect(await ask(ofOne.headers)).toMatchObject(refusal);
    await store.members.change(one.id, { disabled: false });
    expect((await ask(ofOne.headers)).status).toBe(200);
    await store.members.remove(other.id);
    expect(await ask(ofOther.headers)).toMatchObject(refusal);
    expect(await store.tokens.get(ofOther.id)).toBeUndefined();
  });
});

describe("what it is for", () => {
  test("other connections are not there for it, and its own is meant whatever its member works with", async () => {
    const elsewhere = await harness.connect("http://127.0.0.1:9", "k");
    const { headers } = await makeToken(harness, "operator", { connectionIds: ["embedded"] });
    const both = await makeToken(harness, "operator");
    await harness.console.store.members.setLastConnection(harness.viewerOf("operator").memberId, elsewhere);
    expect((await ask(headers)).status).toBe(200);
    expect((await ask(headers, "/api/user?connection=embedded")).status).toBe(200);
    expect(await ask(headers, `/api/user?connection=${elsewhere}`)).toMatchObject({ status: 404, body: { code: "NOT_FOUND" } });
    expect((await ask(both.headers)).status).toBe(200);
    expect((await ask(both.headers, `/api/user?connection=${elsewhere}`)).status).toBe(502);
    const listed = (await ask(headers, "/api/console/connections")).body.connections as { id: string }[];
    expect(listed.map(({ id }) => id)).toEqual(["embedded"]);
  });

  test("without the connection that it was made for it says so, and still takes another by name", async () => {
    const { headers } = await makeToken(harness, "operator", { connectionId: "gone" });
    expect(await ask(headers)).toMatchObject({ status: 409, body: { code: "NO_CONNECTION" } });
    expect((await ask(headers, "/api/user?connection=embedded")).status).toBe(200);
  });

  test("only reads, where it was made to read", async () => {
    const { headers } = await makeToken(harness, "owner", { operations: "reads" });
    for (const path of ["/api/user", "/api/jobs", "/api/console/queue", "/api/console/runs-by-day"])
      expect((await ask(headers, path)).status).toBe(200);
    for (const path of ["/api/interrupt", "/api/free", "/api/queue", "/api/console/jobs/stop"])
      expect((await ask(headers, path, "POST")).body).toMatchObject({ code: "FORBIDDEN" });
  });

  test("only the operations that it was made for", async () => {
    const { headers } = await makeToken(harness, "owner", { operations: ["listJobs", "freeMemory"] });
    expect((await ask(headers, "/api/jobs")).status).toBe(200);
    expect((await ask(headers, "/api/free", "POST")).status).toBe(200);
    expect((await ask(headers, "/api/user")).body).toMatchObject({ code: "FORBIDDEN" });
    expect((await ask(headers, "/api/console/queue")).body).toMatchObject({ code: "FORBIDDEN" });
    expect((await ask(headers, "/api/nothing")).status).toBe(404);
  });

  test("a token that stands beside a graph for a service's key is not sent on, and every other field is", async () => {
    const { token, headers } = await makeToken(harness, "operator");
    const sent = await harness.request("/api/prompt", {
      method: "POST",
      headers,
      json: { prompt: canvas(7), extra_data: { api_key_comfy_org: token, extra_pnginfo: { workflow: { name: "kept" } } } },
    });
    const { prompt_id: id } = (await sent.json()) as { prompt_id: string };
    const kept = await ask(headers, `/api/jobs/${id}`);
    expect(kept.body.workflow.extra_data).toEqual({ extra_pnginfo: { workflow: { name: "kept" } } });
  });
});

describe("its end", () => {
  test("its member, an admin and the owner revoke it; nobody else finds it", async () => {
    for (const as of ["operator", "admin", "owner"] as const) {
      const { id, headers } = await makeToken(harness, "operator");
      expect((await revoke("viewer", id)).status).toBe(404);
      expect((await ask(headers)).status).toBe(200);
      expect((await revoke(as, id)).status).toBe(204);
      expect((await ask(headers)).status).toBe(401);
    }
    expect((await revoke("owner", "nothing")).status).toBe(404);
  });

  test("a new password, and the end of all sessions, end no token", async () => {
    const { headers } = await makeToken(harness, "operator");
    await harness.console.store.members.changeAccount(harness.viewerOf("operator").memberId, { passwordHash: "x" });
    expect((await ask(headers)).status).toBe(200);
  });
});

test("the console's own document says that it takes a token, in either header", async () => {
  const { headers } = await makeToken(harness, "viewer", { operations: ["getUser"] });
  const { body: document } = await ask(headers, "/api/openapi.json");
  expect(document).toMatchObject({
    servers: [{ url: "http://desk.test" }],
    security: [{ ApiKey: [] }, { Bearer: [] }],
    components: { securitySchemes: { ApiKey: { name: "X-API-Key" }, Bearer: { type: "http", scheme: "bearer" } } },
  });
});

test("the audit log names the token with whoever's it is, and the chain holds", async () => {
  const { headers } = await makeToken(harness, "operator", { name: "night\u202eshift" });
  await ask(headers, "/api/free", "POST");
  await harness.request("/api/free", { as: "operator", method: "POST" });
  const answer = await harness.request("/api/console/audit?limit=2", { as: "admin" });
  const { entries } = (await answer.json()) as { entries: object[] };
  expect(entries[1]).toMatchObject({
    member: { name: "operator" },
    action: "freeMemory",
    via: expect.stringMatching(/^token night.?shift$/),
  });
  expect(entries[0]).not.toHaveProperty("via");
  expect(JSON.stringify(entries)).not.toContain("\u202e");
  expect(await harness.console.store.audit.verify()).toMatchObject({ rows: expect.any(Number) });
});

test("counts its own requests, so that its member is not held up", async () => {
  const bounded = await createHarness({ settings: { LIGHTDESK_RATE_LIMIT: "3" }, now: () => now }); // takes the place of the first
  const { headers } = await makeToken(bounded, "operator");
  const statuses = [];
  for (let count = 0; count < 4; count += 1) statuses.push((await bounded.request("/api/user", { headers })).status);
  expect(statuses).toEqual([200, 200, 200, 429]);
  expect((await bounded.request("/api/user", { as: "operator" })).status).toBe(200);
  await bounded.dispose();
});
