// When a share is inaccessible: a wrong, expired or revoked link, a missing password, or an author without access.
import { beforeEach, expect, test } from "vitest";
import { listShares } from "@/lib/server/queries/shares";
import { addMember } from "../people/people-harness";
import { createShareHarness, DAY_MS } from "./share-harness";

const shares = await createShareHarness();
const { harness, shared, upload, share, revoke, requestShare, visit, getStatus, expectClosed, now, advanceClock } = shares;
beforeEach(() => harness.renewCookies());

test("rejects a wrong link and a share's id", async () => {
  const { token, id } = await share();
  const otherCase = token.toLowerCase() === token ? token.toUpperCase() : token.toLowerCase();
  for (const wrongToken of ["x", id, token.slice(1), `${token}A`, otherCase]) await expectClosed(wrongToken);
  expect(JSON.stringify(await harness.console.store.shares.list())).not.toContain(token);
});

test("closes an expired or revoked share to everyone", async () => {
  const shortShare = await share({ expiresInMs: 60 * 60_000 });
  expect(await getStatus(shortShare.token, "/1")).toBe(200);
  advanceClock(60 * 60_000 + 1);
  await expectClosed(shortShare.token);
  await harness.renewCookies();
  const { token, id } = await share();
  expect(await revoke(id)).toBe(204);
  await expectClosed(token);
  expect(await revoke(id)).toBe(404);
});

test("closes a share when its author is suspended, removed or loses access", async () => {
  const { store } = harness.console;
  const { memberId } = harness.getViewer("operator");
  const { token, id } = await share();
  await store.members.change(memberId, { role: "viewer" });
  await expectClosed(token);
  await store.members.change(memberId, { role: "operator" });
  expect(await getStatus(token, "/1")).toBe(200);
  await store.members.change(memberId, { disabled: true });
  await expectClosed(token);
  await store.members.change(memberId, { disabled: false });
  await harness.renewCookies();

  const connection = (await store.connections.listFor(memberId))[0];
  if (!connection) throw new Error("no connection");
  await store.connections.change(connection.id, { baseUrl: "http://127.0.0.1:9" });
  await expectClosed(token);
  const getState = async () => (await listShares(harness.getContext("operator"))).find((share) => share.id === id)?.state;
  expect(await getState()).toBe("closed");
  await store.connections.change(connection.id, { baseUrl: connection.baseUrl });
  expect(await getState()).toBe("open");
  expect(await getStatus(token, "/1")).toBe(200);

  const author = await addMember(harness, "Sam", "operator");
  const unknownToken = "B".repeat(43);
  const item = { asset: shared.id, name: "g.png", kind: "image" as const, hash: shared.hash, isFixed: true };
  const options = { title: "", keepsMetadata: true, showsMaker: false, showsWorkflow: false, jobId: undefined, passwordHash: undefined };
  const times = { createdAt: now(), expiresAt: now() + DAY_MS };
  const storedShare = { ...options, ...times, baseUrl: connection.baseUrl, items: [item] };
  await store.shares.create({ ...storedShare, id: "gone", memberId: author.id, connectionId: connection.id, token: unknownToken });
  expect(await getStatus(unknownToken, "/1")).toBe(200);
  await store.members.remove(author.id);
  await expectClosed(unknownToken);

  const owner = { memberId: harness.getViewer("admin").memberId, createdAt: now() };
  const otherConnection = await store.connections.create({ name: "Theirs", baseUrl: connection.baseUrl, ...owner });
  const stolenToken = "C".repeat(43);
  await store.shares.create({ ...storedShare, id: "stolen", memberId, connectionId: otherConnection.id, token: stolenToken });
  await expectClosed(stolenToken);
});

test("returns 404 for a deleted asset and keeps the others", async () => {
  const deletedAsset = await upload("deleted");
  const { token } = await share({ assets: [deletedAsset.id, shared.id] });
  expect(await getStatus(token, "/1/256")).toBe(200);
  expect((await harness.request(`/api/assets/${deletedAsset.id}`, { as: "operator", method: "DELETE" })).status).toBe(204);
  for (const path of ["/1", "/1/256", "/1?download=1"]) expect([path, await getStatus(token, path)]).toEqual([path, 404]);
  expect(await getStatus(token, "/2")).toBe(200);
});

test("requires each share's password and limits its unlock cookie to 12 hours", async () => {
  const { token } = await share({ password: "open sesame" });
  const secondShare = await share({ password: "open sesame" });
  expect(await visit(token)).toEqual({ kind: "locked" });
  expect(await getStatus(token, "/1")).toBe(401);
  expect(await getStatus(token, "/1/256")).toBe(401);
  const unlock = (password: string, headers = {}) => requestShare(token, "/unlock", { method: "POST", json: { password }, headers });
  expect((await unlock("open")).status).toBe(401);
  expect((await unlock("open sesame", { origin: "https://evil.example" })).status).toBe(403);
  const response = await unlock("open sesame");
  const [cookie = ""] = (response.headers.get("set-cookie") ?? "").split(";");
  expect(response.headers.get("set-cookie")).toMatch(/; HttpOnly; SameSite=Lax$/);
  expect([response.status, await getStatus(token, "/1", { cookie })]).toEqual([204, 200]);
  expect(await visit(token, cookie)).toMatchObject({ kind: "open" });
  expect(await getStatus(secondShare.token, "/1", { cookie })).toBe(401);
  const forgedCookie = cookie.replace(/=\d+\./, `=${now() + 365 * DAY_MS}.`);
  expect(await getStatus(token, "/1", { cookie: forgedCookie })).toBe(401);
  advanceClock(12 * 60 * 60_000 + 1);
  expect(await getStatus(token, "/1", { cookie })).toBe(401);
  expect(JSON.stringify(await harness.console.store.shares.list())).not.toContain("sesame");
});

test("limits wrong passwords per share across all IP addresses", async () => {
  const { token } = await share({ password: "open sesame" });
  const statuses: number[] = [];
  const unlock = (password: string, index: number) =>
    requestShare(token, "/unlock", { method: "POST", json: { password }, headers: { "x-lightdesk-address": `10.0.${index}.1` } });
  for (let index = 0; index < 3; index++) expect((await unlock("open sesame", index)).status).toBe(204);
  for (let index = 0; index < 22; index++) statuses.push((await unlock("wrong", index)).status);
  expect(statuses).toEqual([...Array<number>(20).fill(401), 429, 429]);
  const refusal = await unlock("open sesame", 99);
  expect(refusal.status).toBe(429);
  // Lower if checking the passwords above took seconds.
  expect(refusal.headers.get("retry-after")).toMatch(/^([1-9]|[1-3]\d|4[0-5])$/);
});

test("lets members manage their own shares and admins all, without logging tokens", async () => {
  const { id, token } = await share({ title: "Mine" });
  const otherShare = await share({ title: "Theirs" }, "admin");
  const listShares = async (as: "operator" | "admin") =>
    (await (await harness.request("/api/console/shares", { as })).json()).shares as { id: string; isOwn: boolean }[];
  expect((await listShares("operator")).some((item) => item.id === otherShare.id)).toBe(false);
  const adminShares = await listShares("admin");
  expect([id, otherShare.id].map((value) => adminShares.find((share) => share.id === value)?.isOwn)).toEqual([false, true]);
  expect([await revoke(otherShare.id), await revoke(id, "admin")]).toEqual([404, 204]);
  const entries = await harness.console.store.audit.listNewest(20);
  const findEntry = (name: string) => entries.find(({ action, target }) => action === name && target === "Mine");
  expect(findEntry("createShare")).toMatchObject({ memberName: "operator", status: 201 });
  const outcome = expect.stringContaining('{"of":"operator <operator@desk.test>"}');
  expect(findEntry("revokeShare")).toMatchObject({ memberName: "admin", outcome });
  expect(JSON.stringify(entries)).not.toContain(token);
  expect(harness.getLog()).not.toContain(token);
});
