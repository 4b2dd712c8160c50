// Personal access tokens: creation, revocation and audit log.
import { afterAll, beforeEach, describe, expect, test } from "vitest";
import { createAccessToken } from "@/tests/support/tokens";
import { createTokenHarness, DAY_MS } from "./token-harness";

const { harness, createToken, sendRequest, revoke, now, advanceClock } = await createTokenHarness();
afterAll(() => harness.dispose());
beforeEach(async () => {
  advanceClock(10 * 60_000);
  await harness.renewCookies();
});

describe("creating a token", () => {
  test("returns the token once and stores only its hash", async () => {
    const { status, body: created } = await createToken("operator");
    expect(status).toBe(201);
    expect(created.token).toMatch(/^ld_[0-9a-f]{64}$/);
    expect(created.view).toMatchObject({ name: "render farm", role: "operator", state: "active", expiresAt: now() + 30 * DAY_MS });
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
    const otherConnection = await connections.create({ name: "Theirs", baseUrl: "http://127.0.0.1:9", memberId, createdAt: now() });
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
