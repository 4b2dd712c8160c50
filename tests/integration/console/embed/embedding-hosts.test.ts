// Host pages through the console's routes: settings, the keys that verify tickets, and guests.
import { exportJWK, generateKeyPair, type JWK, SignJWT } from "jose";
import { describe, expect, it } from "vitest";
import { changeEmbedHost } from "@/lib/server/embed/hosts";
import { simulateFullDisk } from "@/tests/faults/disk/simulate-full-disk";
import { createColorGraph } from "@/tests/integration/service/support";
import { PASSWORD } from "@/tests/support/harness";
import { openTestServer } from "@/tests/support/servers";
import { sendJsonResponse } from "@/tests/support/test-server";
import { createEmbedHarness, ORIGIN } from "./embed-harness";

const embed = await createEmbedHarness();

const HOUR_MS = 60 * 60_000;
const DAY_MS = 24 * HOUR_MS;

describe("a host page", () => {
  it("accepts only https origins without a path, and http on localhost", async () => {
    const invalidUrls = ["https://app.example.com/path", "https://app.example.com/", "http://app.example.com", "https://APP.example.com"];
    for (const origin of [...invalidUrls, "https://*.example.com", "https://a.example.com;script-src *", "null"])
      await expect(embed.addHost({ origins: [origin] }), origin).rejects.toThrow("INVALID_BODY");
    expect((await embed.addHost({ origins: ["http://localhost:4000"] })).host.origins).toEqual(["http://localhost:4000"]);
  });

  it("prevents email changes because its tickets identify members by email", async () => {
    const account = { as: "operator", method: "PUT", json: { email: "outsider@app.example.com", currentPassword: PASSWORD } } as const;
    const response = await embed.request("/api/console/account", account);
    expect(await response.json()).toMatchObject({ code: "INVALID_BODY", details: [{ path: "email" }] });
  });

  it("shows its secret once and stores it encrypted", async () => {
    const { host, secret } = await embed.addHost();
    expect(secret).toMatch(/^[\w-]{43}$/);
    const listText = await (await embed.request("/api/console/embedding", { as: "admin" })).text();
    const storedText = JSON.stringify(await embed.harness.console.store.embedHosts.get(host.id));
    expect([listText.includes(secret), storedText.includes(secret)]).toEqual([false, false]);
  });

  it("rotates its secret and accepts the old one for a day or not at all", async () => {
    const { host, secret: first } = await embed.addHost();
    const rotateSecret = async (renewSecret: string) => {
      const response = await embed.request(`/api/console/embedding/${host.id}`, { as: "owner", method: "PATCH", json: { renewSecret } });
      return response.json();
    };
    const getTicketStatus = async (signingSecret: string) =>
      (await embed.bring(await embed.ticket({ secret: signingSecret, aud: host.audience }), { id: host.id })).status;
    const { secret: second, host: changedHost } = await rotateSecret("keep-old");
    expect(changedHost.oldSecretUntil).toBe(embed.harness.console.now() + DAY_MS);
    expect([await getTicketStatus(first), await getTicketStatus(second)]).toEqual([201, 201]);
    embed.advanceClock(DAY_MS);
    await embed.harness.renewCookies();
    expect([await getTicketStatus(first), await getTicketStatus(second)]).toEqual([401, 201]);
    const { secret: third, host: last } = await rotateSecret("at-once");
    expect(last.oldSecretUntil).toBeUndefined();
    expect([await getTicketStatus(second), await getTicketStatus(third)]).toEqual([401, 201]);
  });

  it("returns a new secret to only one of two parallel rotations", async () => {
    const { host } = await embed.addHost();
    const { console, getViewer } = embed.harness;
    const rotateSecret = () => changeEmbedHost(console, getViewer("owner"), host.id, { renewSecret: "at-once" });
    const results = await Promise.all([rotateSecret(), rotateSecret()]);
    expect(results).toMatchObject([
      { ok: true, value: { secret: expect.any(String) } },
      { ok: false, failure: { code: "CONFLICT" } },
    ]);
  });

  it("belongs to the team and marks a creator who is no longer an admin", async () => {
    const creator = await embed.addMember("Mo Maker", "admin");
    const hostPage = await embed.addHost({ name: "Mo's host" }, creator.cookie);
    const { host } = hostPage;
    const listHosts = async () => (await embed.request("/api/console/embedding", { as: "owner" })).json();
    const readCreator = async () => (await listHosts()).hosts.find(({ id }: { id: string }) => id === host.id).keptBy;
    const putMember = (json: object) => embed.request(`/api/console/members/${creator.id}`, { as: "owner", method: "PUT", json });
    expect(await readCreator()).toEqual({ name: "Mo Maker" });
    await putMember({ role: "viewer" });
    expect(await readCreator()).toEqual({ name: "Mo Maker", lost: "role" });
    await embed.enterHost(hostPage);
    await putMember({ disabled: true });
    expect(await readCreator()).toEqual({ name: "Mo Maker", lost: "suspended" });
    await embed.request(`/api/console/members/${creator.id}`, { as: "owner", method: "DELETE" });
    expect(await readCreator()).toEqual({ name: "Mo Maker", lost: "removed" });
    await embed.enterHost(hostPage);
    await embed.request(`/api/console/embedding/${host.id}`, { as: "owner", method: "PATCH", json: {} });
    expect(await readCreator()).toEqual({ name: "Olga Owner" });
  });

  it("verifies tickets with only the keys and algorithms of its key URL", async () => {
    const keys = await startKeyHost("one");
    expect([await keys.getTicketStatus("one"), await keys.getTicketStatus("one"), keys.countRequests()]).toEqual([201, 201, 1]);
    // Algorithm confusion: a public key used as a secret.
    const ticket = await embed.ticket({ aud: keys.host.audience, secret: keys.getPublicKey("one") });
    expect((await embed.bring(ticket, { id: keys.host.id })).status).toBe(401);
  });

  it("accepts tickets of its old and new key while both are published", async () => {
    const keys = await startKeyHost("old");
    expect(await keys.getTicketStatus("old")).toBe(201);
    await keys.add("new");
    embed.advanceClock(30_000);
    for (const kid of ["new", "old", "new"]) expect(await keys.getTicketStatus(kid)).toBe(201);
    expect(keys.countRequests()).toBe(2);
    keys.remove("old");
    embed.advanceClock(10 * 60_000);
    expect([await keys.getTicketStatus("old"), await keys.getTicketStatus("new")]).toEqual([401, 201]);
  });

  it("requests a failing key URL once in ten seconds and returns 502", async () => {
    const keys = await startKeyHost("one");
    const getTicketStatus = () => keys.getTicketStatus("one");
    keys.break(true);
    const refusal = await keys.bring("one");
    const { code, message, details } = await refusal.json();
    expect([refusal.status, code, details]).toEqual([502, "UPSTREAM_UNREACHABLE", undefined]);
    expect(message).not.toMatch(/key|503|http/i);
    expect(await Promise.all([getTicketStatus(), getTicketStatus(), getTicketStatus()])).toEqual([502, 502, 502]);
    expect(keys.countRequests()).toBe(1);
    embed.advanceClock(10_000);
    keys.break(false);
    expect(await Promise.all([getTicketStatus(), getTicketStatus()])).toEqual([201, 201]);
    expect(keys.countRequests()).toBe(2);
    // An unknown key id refetches the keys; if that fails, the cached keys are still valid.
    await keys.add("two");
    keys.break(true);
    embed.advanceClock(30_000);
    expect([await keys.getTicketStatus("two"), await keys.getTicketStatus("two"), await getTicketStatus()]).toEqual([502, 502, 201]);
    expect(keys.countRequests()).toBe(3);
  });

  it("keeps using cached keys for an hour while their URL fails", async () => {
    const keys = await startKeyHost("one");
    const getTicketStatus = () => keys.getTicketStatus("one");
    expect(await getTicketStatus()).toBe(201);
    keys.break(true);
    embed.advanceClock(HOUR_MS - 60_000);
    expect([await getTicketStatus(), await getTicketStatus(), keys.countRequests()]).toEqual([201, 201, 2]);
    embed.advanceClock(60_000);
    expect(await getTicketStatus()).toBe(502);
    keys.break(false);
    embed.advanceClock(10_000);
    expect(await getTicketStatus()).toBe(201);
    expect(embed.harness.getLog()).toContain("host key fetch failed");
    await embed.harness.renewCookies();
  });
});

describe("a guest of a host page", () => {
  it("is deleted a month after the last visit, but its runs keep its name", async () => {
    const hostPage = await embed.addHost({ guests: true });
    const startSession = (sub: string, name: string) => embed.enterHost(hostPage, { sub, guest: true, name, role: "operator" });
    const { store } = embed.harness.console;
    const getId = async (name: string) => {
      const { entries } = await (await embed.request("/api/console/audit?action=embedSession&limit=50", { as: "owner" })).json();
      return entries.find(({ member }: { member?: { name: string } }) => member?.name === name)?.member.id;
    };
    const session = await startSession("visitor 7", "Grace");
    const connection = await embed.getEmbeddedConnectionId();
    const submission = { ...session, method: "POST", json: { prompt: createColorGraph() } };
    const submitResponse = await embed.request(`/api/prompt?connection=${connection}`, submission);
    expect(submitResponse.status).toBe(200);
    const { prompt_id: job } = await submitResponse.json();
    const id = await getId("Grace");
    expect((await store.members.get(id))?.guestOf).toBe(hostPage.host.id);

    embed.advanceClock(31 * DAY_MS);
    await embed.harness.renewCookies();
    await startSession("visitor 8", "Alan");
    expect(await store.members.get(id)).toBeUndefined();
    const { jobs } = await (await embed.request(`/api/jobs?connection=${connection}`, { as: "owner" })).json();
    expect(jobs.find((item: { id: string }) => item.id === job)?.submitted_by).toBe("Grace");
    expect(await store.jobUsage.findNames([id])).toEqual(new Map([[id, "Grace"]]));

    // A returning visitor is the same member.
    await startSession("visitor 7", "Grace");
    expect((await store.members.get(id))?.name).toBe("Grace");
    expect((await embed.request(`/api/console/embedding/${hostPage.host.id}`, { as: "owner", method: "DELETE" })).status).toBe(204);
    expect([await store.members.get(id), await store.members.get(await getId("Alan"))]).toEqual([undefined, undefined]);
  });
});

it("reveals only whether an origin may frame a host page", async () => {
  const checkOrigin = async (host: string, origin: string) => {
    const response = await embed.request(`/api/embed/check?${new URLSearchParams({ host, origin })}`);
    const { known: isKnown, framing } = await response.json();
    return [response.headers.get("access-control-allow-origin"), isKnown, framing];
  };
  expect(await checkOrigin(embed.host.id, ORIGIN)).toEqual(["*", true, true]);
  expect(await checkOrigin(embed.host.id, "https://evil.example.com")).toEqual(["*", true, false]);
  expect(await checkOrigin("nothing", ORIGIN)).toEqual(["*", false, false]);
});

it("returns 507 for a valid ticket and 401 for an invalid one on a full disk", async () => {
  // A separate harness, since statements prepared earlier don't fail on the full disk.
  const fullDiskHarness = await createEmbedHarness();
  const [good, bad] = [await fullDiskHarness.ticket(), await fullDiskHarness.ticket({ sub: "nobody@desk.test" })];
  const disk = simulateFullDisk();
  const response = await fullDiskHarness.bring(good);
  expect([response.status, (await response.json()).code]).toEqual([507, "INSUFFICIENT_STORAGE"]);
  expect((await fullDiskHarness.bring(bad)).status).toBe(401);
  disk.mockRestore();
});

/** Adds a host page with a key URL that can be made unreachable. */
async function startKeyHost(firstKey: string) {
  const keys = new Map<string, JWK>();
  const signingKeys = new Map<string, CryptoKey>();
  let isBroken = false;
  const server = await openTestServer((_request, response) =>
    sendJsonResponse(response, { keys: [...keys.values()] }, isBroken ? 503 : 200),
  );
  const { host } = await embed.addHost({ jwksUrl: `${server.url}/jwks` });
  async function add(kid: string) {
    const { publicKey, privateKey } = await generateKeyPair("ES256");
    keys.set(kid, { ...(await exportJWK(publicKey)), kid, alg: "ES256" });
    signingKeys.set(kid, privateKey);
  }
  async function sendTicket(kid: string) {
    const signingKey = signingKeys.get(kid);
    if (!signingKey) throw new Error(`no key ${kid}`);
    const ticket = new SignJWT(embed.claims({ aud: host.audience })).setProtectedHeader({ alg: "ES256", kid });
    return embed.bring(await ticket.sign(signingKey), { id: host.id });
  }
  await add(firstKey);
  return {
    host,
    add,
    bring: sendTicket,
    getTicketStatus: async (kid: string) => (await sendTicket(kid)).status,
    getPublicKey: (kid: string) => JSON.stringify(keys.get(kid)),
    remove: (kid: string) => void keys.delete(kid),
    countRequests: () => server.requests.length,
    break: (broken: boolean) => void (isBroken = broken),
  };
}
