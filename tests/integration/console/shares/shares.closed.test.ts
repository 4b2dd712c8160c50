// When a share opens nothing: a wrong, expired or revoked link, a missing password, or a maker who may not show it any more.
import { afterAll, beforeEach, expect, test } from "vitest";
import { listShares } from "@/lib/server/queries/shares";
import { createShareWorld, DAY } from "./share-world";

const { harness, given, upload, share, ask, visit, statusOf, expectClosed, now, pass } = await createShareWorld();
beforeEach(() => harness.renewCookies());
afterAll(() => harness.dispose());

test("a link that is wrong, or another's id in its place, opens nothing", async () => {
  const { token, id } = await share();
  for (const wrong of [
    "x",
    id,
    token.slice(1),
    `${token}A`,
    token.toLowerCase() === token ? "A".repeat(43) : token.toLowerCase(),
    "A".repeat(43),
  ])
    await expectClosed(wrong);
  expect(JSON.stringify(await harness.console.store.shares.list())).not.toContain(token);
});

test("a share that is expired or revoked opens nothing, whoever asks", async () => {
  const short = await share({ expiresInMs: 60 * 60_000 });
  expect(await statusOf(short.token, "/1")).toBe(200);
  pass(60 * 60_000 + 1);
  await expectClosed(short.token);
  await harness.renewCookies();
  const { token, id } = await share();
  expect((await harness.request(`/api/console/shares/${id}`, { as: "operator", method: "DELETE" })).status).toBe(204);
  await expectClosed(token);
  expect((await harness.request(`/api/console/shares/${id}`, { as: "operator", method: "DELETE" })).status).toBe(404);
});

test("it stops with its maker: suspended, lowered, without the connection, removed", async () => {
  const { store } = harness.console;
  const { memberId } = harness.viewerOf("operator");
  const { token, id } = await share();
  await store.members.change(memberId, { role: "viewer" });
  await expectClosed(token);
  await store.members.change(memberId, { role: "operator" });
  expect(await statusOf(token, "/1")).toBe(200);
  await store.members.change(memberId, { disabled: true });
  await expectClosed(token);
  await store.members.change(memberId, { disabled: false });
  await harness.renewCookies();

  const connection = (await store.connections.listFor(memberId))[0];
  if (!connection) throw new Error("no connection");
  await store.connections.change(connection.id, { baseUrl: "http://127.0.0.1:9" });
  await expectClosed(token);
  expect((await listShares(harness.contextOf("operator"))).find((one) => one.id === id)?.state).toBe("closed");
  await store.connections.change(connection.id, { baseUrl: connection.baseUrl });
  expect((await listShares(harness.contextOf("operator"))).find((one) => one.id === id)?.state).toBe("open");
  expect(await statusOf(token, "/1")).toBe(200);

  const made = await store.members.create({ name: "Gone", email: "gone@desk.test", role: "operator", passwordHash: "x", createdAt: now() });
  if (!made) throw new Error("no member");
  const item = { asset: given.id, name: "g.png", kind: "image" as const, hash: given.hash, isFixed: true };
  const gone = "B".repeat(43);
  const kept = { keepsMetadata: true, showsMaker: false, showsWorkflow: false, createdAt: now(), expiresAt: now() + DAY };
  const about = { id: "gone", memberId: made.id, connectionId: connection.id, baseUrl: connection.baseUrl, title: "", ...kept };
  await store.shares.create({ ...about, token: gone, jobId: undefined, passwordHash: undefined, items: [item] });
  expect(await statusOf(gone, "/1")).toBe(200);
  await store.members.remove(made.id);
  await expectClosed(gone);

  const theirs = await store.connections.create({
    name: "Theirs",
    baseUrl: connection.baseUrl,
    memberId: harness.viewerOf("admin").memberId,
    createdAt: now(),
  });
  const stolen = "C".repeat(43);
  await store.shares.create({
    ...about,
    id: "stolen",
    memberId,
    connectionId: theirs.id,
    token: stolen,
    jobId: undefined,
    passwordHash: undefined,
    items: [item],
  });
  await expectClosed(stolen);
});

test("an asset that was deleted since is gone, its thumbnail too, and the others stay", async () => {
  const doomed = await upload("doomed");
  const { token } = await share({ assets: [doomed.id, given.id] });
  expect(await statusOf(token, "/1/256")).toBe(200);
  expect((await harness.request(`/api/assets/${doomed.id}`, { as: "operator", method: "DELETE" })).status).toBe(204);
  for (const rest of ["/1", "/1/256", "/1?download=1"]) expect([rest, await statusOf(token, rest)]).toEqual([rest, 404]);
  expect(await statusOf(token, "/2")).toBe(200);
});

test("a password is asked for, tried a few times, and opens one share in one browser", async () => {
  const { token } = await share({ password: "open sesame" });
  const second = await share({ password: "open sesame" });
  expect(await visit(token)).toEqual({ kind: "locked" });
  expect(await statusOf(token, "/1")).toBe(401);
  expect(await statusOf(token, "/1/256")).toBe(401);
  const unlock = (password: string, headers = {}) => ask(token, "/unlock", { method: "POST", json: { password }, headers });
  expect((await unlock("open")).status).toBe(401);
  expect((await unlock("open sesame", { origin: "https://evil.example" })).status).toBe(403);
  const opened = await unlock("open sesame");
  const [cookie = ""] = (opened.headers.get("set-cookie") ?? "").split(";");
  expect(opened.headers.get("set-cookie")).toMatch(/; HttpOnly; SameSite=Lax$/);
  expect([opened.status, await statusOf(token, "/1", { cookie })]).toEqual([204, 200]);
  expect(await visit(token, cookie)).toMatchObject({ kind: "open" });
  expect(await statusOf(second.token, "/1", { cookie })).toBe(401);
  const later = cookie.replace(/=\d+\./, `=${now() + 365 * DAY}.`);
  expect(await statusOf(token, "/1", { cookie: later })).toBe(401);
  pass(12 * 60 * 60_000 + 1);
  expect(await statusOf(token, "/1", { cookie })).toBe(401);
  expect(JSON.stringify(await harness.console.store.shares.list())).not.toContain("sesame");
});

test("passwords of a share are tried twenty times in a quarter of an hour, wherever they come from", async () => {
  const { token } = await share({ password: "open sesame" });
  const statuses: number[] = [];
  for (let index = 0; index < 22; index++) {
    const headers = { "x-lightdesk-address": `10.0.${index}.1` };
    statuses.push(await statusOf(token, "/unlock", { method: "POST", json: { password: "wrong" }, headers }));
  }
  expect(statuses).toEqual([...Array<number>(20).fill(401), 429, 429]);
  const right = () =>
    ask(token, "/unlock", { method: "POST", json: { password: "open sesame" }, headers: { "x-lightdesk-address": "10.9.9.9" } });
  expect((await right()).status).toBe(429);
  pass(15 * 60_000);
  expect((await right()).status).toBe(204);
});

test("members list and revoke their own, admins all; making and revoking is in the audit log without the token", async () => {
  const { id, token } = await share({ title: "Mine" });
  const theirs = await share({ title: "Theirs" }, "admin");
  const listed = async (as: "operator" | "admin") =>
    (await (await harness.request("/api/console/shares", { as })).json()).shares as { id: string; isOwn: boolean }[];
  expect((await listed("operator")).some((one) => one.id === theirs.id)).toBe(false);
  const all = await listed("admin");
  expect([id, theirs.id].map((one) => all.find((other) => other.id === one)?.isOwn)).toEqual([false, true]);
  expect((await harness.request(`/api/console/shares/${theirs.id}`, { as: "operator", method: "DELETE" })).status).toBe(404);
  expect((await harness.request(`/api/console/shares/${id}`, { as: "admin", method: "DELETE" })).status).toBe(204);
  const entries = await harness.console.store.audit.listNewest(20);
  expect(entries.find(({ action, target }) => action === "createShare" && target === "Mine")).toMatchObject({
    memberName: "operator",
    status: 201,
  });
  expect(entries.find(({ action, target }) => action === "revokeShare" && target === "Mine")).toMatchObject({
    memberName: "admin",
    outcome: expect.stringContaining('{"of":"operator <operator@desk.test>"}'),
  });
  expect(JSON.stringify(entries)).not.toContain(token);
  expect(harness.log()).not.toContain(token);
});

test("a sign-in from long ago makes no share", async () => {
  pass(16 * 60_000);
  const answer = await harness.request("/api/console/shares", {
    as: "operator",
    method: "POST",
    json: { assets: [given.id], expiresInMs: DAY },
  });
  expect((await answer.json()).code).toBe("SIGN_IN_AGAIN");
});
