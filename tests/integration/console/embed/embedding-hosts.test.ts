// Host pages through the console's routes: settings, the keys that verify tickets, and guests.
import { exportJWK, generateKeyPair, type JWK, SignJWT } from "jose";
import { describe, expect, it } from "vitest";
import { EMBED_PATH_HEADER } from "@/lib/shared/console-paths";
import { simulateFullDisk } from "@/tests/faults/disk/simulate-full-disk";
import { openTestServer } from "@/tests/support/servers";
import { sendJsonResponse } from "@/tests/support/test-server";
import { createEmbedHarness, ORIGIN, SLOT } from "./embed-harness";

const embed = await createEmbedHarness();

const HOUR_MS = 60 * 60_000;
const DAY_MS = 24 * HOUR_MS;

describe("a host page", () => {
  it.each([
    ["https://app.example.com/path"],
    ["https://app.example.com/"],
    ["http://app.example.com"],
    ["https://*.example.com"],
    ["https://APP.example.com"],
    ["null"],
    ["https://a.example.com;script-src *"],
  ])("rejects the origin %s", async (origin) => {
    await expect(embed.addHost({ origins: [origin] })).rejects.toThrow("INVALID_BODY");
  });

  it("accepts an http origin on localhost", async () => {
    expect((await embed.addHost({ origins: ["http://localhost:4000"] })).host.origins).toEqual(["http://localhost:4000"]);
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

  it("belongs to the team and marks a creator who is no longer an admin", async () => {
    const creator = await embed.addMember("Mo Maker", "admin");
    const { host, secret } = await embed.addHost({ name: "Mo's host" }, creator.cookie);
    const listHosts = async () => (await embed.request("/api/console/embedding", { as: "owner" })).json();
    const readCreator = async () => (await listHosts()).hosts.find(({ id }: { id: string }) => id === host.id).keptBy;
    const getTicketStatus = async () => (await embed.bring(await embed.ticket({ secret, aud: host.audience }), { id: host.id })).status;
    const putMember = (json: object) => embed.request(`/api/console/members/${creator.id}`, { as: "owner", method: "PUT", json });
    expect(await readCreator()).toEqual({ name: "Mo Maker" });
    await putMember({ role: "viewer" });
    expect([await readCreator(), await getTicketStatus()]).toEqual([{ name: "Mo Maker", lost: "role" }, 201]);
    await putMember({ disabled: true });
    expect(await readCreator()).toEqual({ name: "Mo Maker", lost: "suspended" });
    await embed.request(`/api/console/members/${creator.id}`, { as: "owner", method: "DELETE" });
    expect([await readCreator(), await getTicketStatus()]).toEqual([{ name: "Mo Maker", lost: "removed" }, 201]);
    await embed.request(`/api/console/embedding/${host.id}`, { as: "owner", method: "PATCH", json: {} });
    expect(await readCreator()).toEqual({ name: "Olga Owner" });
  });

  it("verifies tickets with only the keys and algorithms of its key URL", async () => {
    const { publicKey, privateKey } = await generateKeyPair("ES256");
    const jwk = { ...(await exportJWK(publicKey)), kid: "one", alg: "ES256" };
    const server = await openTestServer((_request, response) => void response.end(JSON.stringify({ keys: [jwk] })));
    const { host } = await embed.addHost({ jwksUrl: `${server.url}/jwks` });
    const getTicketStatus = (ticket: string) => embed.bring(ticket, { id: host.id }).then(({ status }) => status);
    const signTicket = () =>
      new SignJWT(embed.claims({ aud: host.audience })).setProtectedHeader({ alg: "ES256", kid: "one" }).sign(privateKey);
    expect([await getTicketStatus(await signTicket()), await getTicketStatus(await signTicket())]).toEqual([201, 201]);
    expect(server.requests.length).toBe(1);
    // Algorithm confusion: a public key used as a secret.
    expect(await getTicketStatus(await embed.ticket({ aud: host.audience, secret: JSON.stringify(jwk) }))).toBe(401);
  });

  it("accepts tickets of its old and new key while both are published", async () => {
    const keys = await startKeyServer();
    try {
      const { host } = await embed.addHost({ jwksUrl: `${keys.url}/jwks` });
      const getTicketStatus = async (kid: string) => (await embed.bring(await keys.sign(kid, host.audience), { id: host.id })).status;
      await keys.add("old");
      expect(await getTicketStatus("old")).toBe(201);
      await keys.add("new");
      embed.advanceClock(30_000);
      expect([await getTicketStatus("new"), await getTicketStatus("old"), await getTicketStatus("new")]).toEqual([201, 201, 201]);
      expect(keys.countRequests()).toBe(2);
      keys.remove("old");
      embed.advanceClock(10 * 60_000);
      expect([await getTicketStatus("old"), await getTicketStatus("new")]).toEqual([401, 201]);
    } finally {
      await keys.close();
    }
  });

  it("requests a failing key URL once in ten seconds and returns 502", async () => {
    const keys = await startKeyServer();
    try {
      const { host } = await embed.addHost({ jwksUrl: `${keys.url}/jwks` });
      await keys.add("one");
      const getTicketStatus = async (kid = "one") => (await embed.bring(await keys.sign(kid, host.audience), { id: host.id })).status;
      keys.break(true);
      const refusal = await embed.bring(await keys.sign("one", host.audience), { id: host.id });
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
      expect([await getTicketStatus("two"), await getTicketStatus("two"), await getTicketStatus(), keys.countRequests()]).toEqual([
        502, 502, 201, 3,
      ]);
    } finally {
      await keys.close();
    }
  });

  it("keeps using cached keys for an hour while their URL fails", async () => {
    const keys = await startKeyServer();
    try {
      const { host } = await embed.addHost({ jwksUrl: `${keys.url}/jwks` });
      await keys.add("one");
      const getTicketStatus = async () => (await embed.bring(await keys.sign("one", host.audience), { id: host.id })).status;
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
    } finally {
      await embed.harness.renewCookies();
      await keys.close();
    }
  });
});

describe("a guest of a host page", () => {
  it("is deleted a month after the last visit, but its runs keep its name", async () => {
    const { host, secret } = await embed.addHost({ guests: true });
    const startSession = async (sub: string, name: string) => {
      const ticket = await embed.ticket({ secret, aud: host.audience, sub, guest: true, name, role: "operator" });
      const startResponse = await embed.bring(ticket, { id: host.id });
      expect(startResponse.status).toBe(201);
      return {
        cookie: startResponse.headers.getSetCookie()[0]?.split(";")[0],
        headers: { [EMBED_PATH_HEADER]: `/embed/${host.id}/${SLOT}` },
      };
    };
    const { store } = embed.harness.console;
    const getId = async (name: string) => {
      const { entries } = await (await embed.request("/api/console/audit?action=embedSession&limit=50", { as: "owner" })).json();
      return entries.find(({ member }: { member?: { name: string } }) => member?.name === name)?.member.id;
    };
    const session = await startSession("visitor 7", "Grace");
    const prompt = {
      "1": { class_type: "EmptyImage", inputs: { width: 8, height: 8, batch_size: 1, color: 1 } },
      "2": { class_type: "PreviewImage", inputs: { images: ["1", 0] } },
    };
    const submitResponse = await embed.request(`/api/prompt?connection=${await embed.getEmbeddedConnectionId()}`, {
      ...session,
      method: "POST",
      json: { prompt },
    });
    expect(submitResponse.status).toBe(200);
    const { prompt_id: job } = await submitResponse.json();
    const id = await getId("Grace");
    expect((await store.members.get(id))?.guestOf).toBe(host.id);

    embed.advanceClock(31 * DAY_MS);
    await embed.harness.renewCookies();
    await startSession("visitor 8", "Alan");
    expect(await store.members.get(id)).toBeUndefined();
    const { jobs } = await (await embed.request(`/api/jobs?connection=${await embed.getEmbeddedConnectionId()}`, { as: "owner" })).json();
    expect(jobs.find((item: { id: string }) => item.id === job)?.submitted_by).toBe("Grace");
    expect(await store.jobUsage.findNames([id])).toEqual(new Map([[id, "Grace"]]));

    // A returning visitor is the same member.
    await startSession("visitor 7", "Grace");
    expect((await store.members.get(id))?.name).toBe("Grace");
    expect((await embed.request(`/api/console/embedding/${host.id}`, { as: "owner", method: "DELETE" })).status).toBe(204);
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

/** A key URL that can be made unreachable. */
async function startKeyServer() {
  const keys = new Map<string, { jwk: JWK; privateKey: CryptoKey }>();
  let isBroken = false;
  const server = await openTestServer((_request, response) =>
    sendJsonResponse(response, { keys: [...keys.values()].map(({ jwk }) => jwk) }, isBroken ? 503 : 200),
  );
  const signingKeys = new Map<string, CryptoKey>();
  return {
    url: server.url,
    countRequests: () => server.requests.length,
    break: (broken: boolean) => void (isBroken = broken),
    async add(kid: string) {
      const { publicKey, privateKey } = await generateKeyPair("ES256");
      keys.set(kid, { jwk: { ...(await exportJWK(publicKey)), kid, alg: "ES256" }, privateKey });
      signingKeys.set(kid, privateKey);
    },
    remove: (kid: string) => void keys.delete(kid),
    async sign(kid: string, aud: string) {
      const signingKey = signingKeys.get(kid);
      if (!signingKey) throw new Error(`no key ${kid}`);
      return new SignJWT(embed.claims({ aud })).setProtectedHeader({ alg: "ES256", kid }).sign(signingKey);
    },
    close: () => server.close(),
  };
}
