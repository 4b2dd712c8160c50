// Host pages through the console's routes: their setup, the keys that verify tickets while keys change or are unreachable, and the guests that they
// create.
import { exportJWK, generateKeyPair, type JWK, SignJWT } from "jose";
import { describe, expect, it } from "vitest";
import { EMBED_PATH_HEADER } from "@/lib/shared/console-paths";
import { fillForSqlite } from "@/tests/faults/disk/full-sqlite";
import { openTestServer } from "@/tests/support/servers";
import { sendJsonResponse } from "@/tests/support/test-server";
import { createEmbedWorld, ORIGIN, SLOT } from "./embed-harness";

const world = await createEmbedWorld();

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
  ])("is not taken with the origin %s", async (origin) => {
    await expect(world.addHost({ origins: [origin] })).rejects.toThrow("INVALID_BODY");
  });

  it("may be this machine over http", async () => {
    expect((await world.addHost({ origins: ["http://localhost:4000"] })).host.origins).toEqual(["http://localhost:4000"]);
  });

  it("shows its secret once and stores it encrypted", async () => {
    const { host, secret } = await world.addHost();
    expect(secret).toMatch(/^[\w-]{43}$/);
    const listText = await (await world.ask("/api/console/embedding", { as: "admin" })).text();
    const storedText = JSON.stringify(await world.harness.console.store.embedHosts.get(host.id));
    expect([listText.includes(secret), storedText.includes(secret)]).toEqual([false, false]);
  });

  it("rotates its secret and accepts the old one for a day or not at all", async () => {
    const { host, secret: first } = await world.addHost();
    const renew = async (renewSecret: string) => {
      const response = await world.ask(`/api/console/embedding/${host.id}`, { as: "owner", method: "PATCH", json: { renewSecret } });
      return response.json();
    };
    const bring = async (by: string) => (await world.bring(await world.ticket({ secret: by, aud: host.audience }), { id: host.id })).status;
    const { secret: second, host: changedHost } = await renew("keep-old");
    expect(changedHost.oldSecretUntil).toBe(world.harness.console.now() + DAY_MS);
    expect([await bring(first), await bring(second)]).toEqual([201, 201]);
    world.pass(DAY_MS);
    await world.harness.renewCookies();
    expect([await bring(first), await bring(second)]).toEqual([401, 201]);
    const { secret: third, host: last } = await renew("at-once");
    expect(last.oldSecretUntil).toBeUndefined();
    expect([await bring(second), await bring(third)]).toEqual([401, 201]);
  });

  it("belongs to the team and marks a setter who is no longer an admin", async () => {
    const maker = await world.addMember("Mo Maker", "admin");
    const { host, secret } = await world.addHost({ name: "Of Mo" }, maker.cookie);
    const listHosts = async () => (await world.ask("/api/console/embedding", { as: "owner" })).json();
    const keeper = async () => (await listHosts()).hosts.find(({ id }: { id: string }) => id === host.id).keptBy;
    const bring = async () => (await world.bring(await world.ticket({ secret, aud: host.audience }), { id: host.id })).status;
    const putMember = (json: object) => world.ask(`/api/console/members/${maker.id}`, { as: "owner", method: "PUT", json });
    expect(await keeper()).toEqual({ name: "Mo Maker" });
    await putMember({ role: "viewer" });
    expect([await keeper(), await bring()]).toEqual([{ name: "Mo Maker", lost: "role" }, 201]);
    await putMember({ disabled: true });
    expect(await keeper()).toEqual({ name: "Mo Maker", lost: "suspended" });
    await world.ask(`/api/console/members/${maker.id}`, { as: "owner", method: "DELETE" });
    expect([await keeper(), await bring()]).toEqual([{ name: "Mo Maker", lost: "removed" }, 201]);
    await world.ask(`/api/console/embedding/${host.id}`, { as: "owner", method: "PATCH", json: {} });
    expect(await keeper()).toEqual({ name: "Olga Owner" });
  });

  it("is checked with the keys at its address, by the algorithms of those alone", async () => {
    const { publicKey, privateKey } = await generateKeyPair("ES256");
    const jwk = { ...(await exportJWK(publicKey)), kid: "one", alg: "ES256" };
    const server = await openTestServer((_request, response) => void response.end(JSON.stringify({ keys: [jwk] })));
    const { host } = await world.addHost({ jwksUrl: `${server.url}/jwks` });
    const bring = (ticket: string) => world.bring(ticket, { id: host.id }).then(({ status }) => status);
    const signed = () =>
      new SignJWT(world.claims({ aud: host.audience })).setProtectedHeader({ alg: "ES256", kid: "one" }).sign(privateKey);
    expect([await bring(await signed()), await bring(await signed())]).toEqual([201, 201]);
    expect(server.requests.length).toBe(1);
    // Algorithm confusion: a public key used as a secret.
    expect(await bring(await world.ticket({ aud: host.audience, secret: JSON.stringify(jwk) }))).toBe(401);
  });

  it("accepts tickets of its old and new key while both are published", async () => {
    const keys = await keyServer();
    try {
      const { host } = await world.addHost({ jwksUrl: `${keys.url}/jwks` });
      const bring = async (kid: string) => (await world.bring(await keys.sign(kid, host.audience), { id: host.id })).status;
      await keys.add("old");
      expect(await bring("old")).toBe(201);
      await keys.add("new");
      world.pass(30_000);
      expect([await bring("new"), await bring("old"), await bring("new")]).toEqual([201, 201, 201]);
      expect(keys.countRequests()).toBe(2);
      keys.remove("old");
      world.pass(10 * 60_000);
      expect([await bring("old"), await bring("new")]).toEqual([401, 201]);
    } finally {
      await keys.close();
    }
  });

  it("checks a failing address once in ten seconds and blames no ticket", async () => {
    const keys = await keyServer();
    try {
      const { host } = await world.addHost({ jwksUrl: `${keys.url}/jwks` });
      await keys.add("one");
      const bring = async (kid = "one") => (await world.bring(await keys.sign(kid, host.audience), { id: host.id })).status;
      keys.break(true);
      const refusal = await world.bring(await keys.sign("one", host.audience), { id: host.id });
      const { code, message, details } = await refusal.json();
      expect([refusal.status, code, details]).toEqual([502, "UPSTREAM_UNREACHABLE", undefined]);
      expect(message).not.toMatch(/key|503|http/i);
      expect(await Promise.all([bring(), bring(), bring()])).toEqual([502, 502, 502]);
      expect(keys.countRequests()).toBe(1);
      world.pass(10_000);
      keys.break(false);
      expect(await Promise.all([bring(), bring()])).toEqual([201, 201]);
      expect(keys.countRequests()).toBe(2);
      // An unknown key id refetches the keys; if that fails, the cached keys are still valid.
      await keys.add("two");
      keys.break(true);
      world.pass(30_000);
      expect([await bring("two"), await bring("two"), await bring(), keys.countRequests()]).toEqual([502, 502, 201, 3]);
    } finally {
      await keys.close();
    }
  });

  it("keeps using cached keys for an hour while their address fails", async () => {
    const keys = await keyServer();
    try {
      const { host } = await world.addHost({ jwksUrl: `${keys.url}/jwks` });
      await keys.add("one");
      const bring = async () => (await world.bring(await keys.sign("one", host.audience), { id: host.id })).status;
      expect(await bring()).toBe(201);
      keys.break(true);
      world.pass(HOUR_MS - 60_000);
      expect([await bring(), await bring(), keys.countRequests()]).toEqual([201, 201, 2]);
      world.pass(60_000);
      expect(await bring()).toBe(502);
      keys.break(false);
      world.pass(10_000);
      expect(await bring()).toBe(201);
      expect(world.harness.log()).toContain("host key fetch failed");
    } finally {
      await world.harness.renewCookies();
      await keys.close();
    }
  });
});

describe("a guest of a host page", () => {
  it("disappears a month after the last visit, but keeps its name in runs", async () => {
    const { host, secret } = await world.addHost({ guests: true });
    const enter = async (sub: string, name: string) => {
      const ticket = await world.ticket({ secret, aud: host.audience, sub, guest: true, name, role: "operator" });
      const startResponse = await world.bring(ticket, { id: host.id });
      expect(startResponse.status).toBe(201);
      return {
        cookie: startResponse.headers.getSetCookie()[0]?.split(";")[0],
        headers: { [EMBED_PATH_HEADER]: `/embed/${host.id}/${SLOT}` },
      };
    };
    const { store } = world.harness.console;
    const getId = async (name: string) => {
      const { entries } = await (await world.ask("/api/console/audit?action=embedSession&limit=50", { as: "owner" })).json();
      return entries.find(({ member }: { member?: { name: string } }) => member?.name === name)?.member.id;
    };
    const grace = await enter("visitor 7", "Grace");
    const prompt = {
      "1": { class_type: "EmptyImage", inputs: { width: 8, height: 8, batch_size: 1, color: 1 } },
      "2": { class_type: "PreviewImage", inputs: { images: ["1", 0] } },
    };
    const submitResponse = await world.ask(`/api/prompt?connection=${await world.ownConnection()}`, {
      ...grace,
      method: "POST",
      json: { prompt },
    });
    expect(submitResponse.status).toBe(200);
    const { prompt_id: job } = await submitResponse.json();
    const id = await getId("Grace");
    expect((await store.members.get(id))?.guestOf).toBe(host.id);

    world.pass(31 * DAY_MS);
    await world.harness.renewCookies();
    await enter("visitor 8", "Alan");
    expect(await store.members.get(id)).toBeUndefined();
    const { jobs } = await (await world.ask(`/api/jobs?connection=${await world.ownConnection()}`, { as: "owner" })).json();
    expect(jobs.find((item: { id: string }) => item.id === job)?.submitted_by).toBe("Grace");
    expect(await store.jobUsage.namesOf([id])).toEqual(new Map([[id, "Grace"]]));

    // A returning visitor is the same member.
    await enter("visitor 7", "Grace");
    expect((await store.members.get(id))?.name).toBe("Grace");
    expect((await world.ask(`/api/console/embedding/${host.id}`, { as: "owner", method: "DELETE" })).status).toBe(204);
    expect([await store.members.get(id), await store.members.get(await getId("Alan"))]).toEqual([undefined, undefined]);
  });
});

it("reveals only whether an origin may frame a host page", async () => {
  const requestTicket = async (host: string, origin: string) => {
    const response = await world.ask(`/api/embed/check?${new URLSearchParams({ host, origin })}`);
    const { known: isKnown, framing } = await response.json();
    return [response.headers.get("access-control-allow-origin"), isKnown, framing];
  };
  expect(await requestTicket(world.host.id, ORIGIN)).toEqual(["*", true, true]);
  expect(await requestTicket(world.host.id, "https://evil.example.com")).toEqual(["*", true, false]);
  expect(await requestTicket("nothing", ORIGIN)).toEqual(["*", false, false]);
});
it("reports a full disk for a good ticket and a bad ticket as bad", async () => {
  // A separate world, since statements prepared earlier do not see the full disk.
  const full = await createEmbedWorld();
  const [good, bad] = [await full.ticket(), await full.ticket({ sub: "nobody@desk.test" })];
  const disk = fillForSqlite();
  const response = await full.bring(good);
  expect([response.status, (await response.json()).code]).toEqual([507, "INSUFFICIENT_STORAGE"]);
  expect((await full.bring(bad)).status).toBe(401);
  disk.mockRestore();
});

/** A key URL that can be made unreachable. */
async function keyServer() {
  const keys = new Map<string, { jwk: JWK; privateKey: CryptoKey }>();
  let isBroken = false;
  const server = await openTestServer((_request, response) =>
    sendJsonResponse(response, { keys: [...keys.values()].map(({ jwk }) => jwk) }, isBroken ? 503 : 200),
  );
  const published = new Map<string, CryptoKey>();
  return {
    url: server.url,
    countRequests: () => server.requests.length,
    break: (broken: boolean) => void (isBroken = broken),
    async add(kid: string) {
      const { publicKey, privateKey } = await generateKeyPair("ES256");
      keys.set(kid, { jwk: { ...(await exportJWK(publicKey)), kid, alg: "ES256" }, privateKey });
      published.set(kid, privateKey);
    },
    remove: (kid: string) => void keys.delete(kid),
    async sign(kid: string, aud: string) {
      const by = published.get(kid);
      if (!by) throw new Error(`no key ${kid}`);
      return new SignJWT(world.claims({ aud })).setProtectedHeader({ alg: "ES256", kid }).sign(by);
    },
    close: () => server.close(),
  };
}
