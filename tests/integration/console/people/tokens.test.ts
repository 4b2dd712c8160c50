// Personal access tokens: creation, revocation and audit log.
import { afterAll, beforeEach, describe, expect, test } from "vitest";
import { makeToken } from "@/tests/support/tokens";
import { createTokenWorld, DAY_MS } from "./token-world";

const { harness, make, ask, revoke, now, pass } = await createTokenWorld();
afterAll(() => harness.dispose());
beforeEach(async () => {
  pass(10 * 60_000);
  await harness.renewCookies();
});

describe("creating a token", () => {
  test("answers it once, keeps a hash of it alone, and says what it may and until when", async () => {
    const { status, body: created } = await make("operator");
    expect(status).toBe(201);
    expect(created.token).toMatch(/^ld_[0-9a-f]{64}$/);
    expect(created.view).toMatchObject({ name: "render farm", role: "operator", state: "active", expiresAt: now() + 30 * DAY_MS });
    expect((await ask({ "x-api-key": created.token })).status).toBe(200);
    const rows = await harness.console.store.tokens.list();
    expect(JSON.stringify(rows)).not.toContain(created.token);
    expect(harness.log()).not.toContain(created.token);
    expect(JSON.stringify(await harness.console.store.audit.listNewest(50))).not.toContain(created.token);
  });

  test.each<[string, object, number]>([
    ["a role above one's own", { role: "admin" }, 403],
    ["an unknown connection", { connection: "nothing" }, 400],
    ["connections without the default one", { connections: ["nothing"] }, 400],
    ["an unknown operation", { operations: ["createToken"] }, 400],
    ["no expiry chosen", { days: undefined }, 400],
    ["an unsupported number of days", { days: 8 }, 400],
    ["no connection chosen", { connection: undefined }, 400],
    ["no name", { name: " " }, 400],
  ])("is refused with %s", async (_what, change, status) => {
    expect((await make("operator", change)).status).toBe(status);
  });

  test("is refused for a name in use, also in parallel requests", async () => {
    const responses = await Promise.all([1, 2, 3].map(() => make("operator", { name: "nightly" })));
    expect(responses.map(({ status }) => status).sort()).toEqual([201, 400, 400]);
    expect(responses.find(({ status }) => status === 400)?.body.message).toMatch(/^name: /);
    expect((await make("admin", { name: "nightly" })).status).toBe(201);
    await revoke("operator", responses.find(({ status }) => status === 201)?.body.view.id ?? "");
    expect((await make("operator", { name: "nightly" })).status).toBe(201);
  });

  test("is refused with a connection that another member keeps for themselves", async () => {
    const { connections } = harness.console.store;
    const { memberId } = harness.viewerOf("admin");
    const otherConnection = await connections.create({ name: "Theirs", baseUrl: "http://127.0.0.1:9", memberId, createdAt: now() });
    expect((await make("operator", { connection: otherConnection.id })).status).toBe(400);
    expect((await make("admin", { connection: otherConnection.id })).status).toBe(201);
    await connections.remove(otherConnection.id);
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
    for (const { body: created } of all) if (created.view) await revoke("viewer", created.view.id);
    expect((await make("viewer", { role: "viewer" })).status).toBe(201);
  });
});

describe("revocation", () => {
  test("is revoked by its member, an admin or the owner", async () => {
    for (const as of ["operator", "admin", "owner"] as const) {
      const { id, headers } = await makeToken(harness, "operator");
      expect((await revoke("viewer", id)).status).toBe(404);
      expect((await ask(headers)).status).toBe(200);
      expect((await revoke(as, id)).status).toBe(204);
      expect((await ask(headers)).status).toBe(401);
    }
    expect((await revoke("owner", "nothing")).status).toBe(404);
  });

  test("is not caused by a new password or ended sessions", async () => {
    const { headers } = await makeToken(harness, "operator");
    await harness.console.store.members.changeAccount(harness.viewerOf("operator").memberId, { passwordHash: "x" });
    expect((await ask(headers)).status).toBe(200);
  });
});

test("is logged with the token's member, and the chain verifies", async () => {
  const { headers } = await makeToken(harness, "operator", { name: "night\u202eshift" });
  await ask(headers, "/api/free", "POST");
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
