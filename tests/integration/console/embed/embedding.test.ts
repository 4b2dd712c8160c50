// Tickets of host pages through the console's routes: which ones open a session, and what ends it.
import { SignJWT } from "jose";
import { describe, expect, it } from "vitest";
import { EMBED_SESSION_MS } from "@/lib/contract/embed/embedding";
import { EMBED_PATH_HEADER } from "@/lib/shared/console-paths";
import { type HarnessRequest } from "@/tests/support/harness";
import { createEmbedWorld, SLOT } from "./embed-harness";

const world = await createEmbedWorld();

const base64 = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64url");
const seconds = () => Math.floor(world.harness.console.now() / 1000);
const MINUTES_10 = 600;

describe("rejects an invalid ticket and shows the reason only to the host's admins", () => {
  const wrongTickets: [name: string, why: string, make: () => Promise<string>][] = [
    ["expired", "expired", () => world.ticket({ iat: seconds() - 120, exp: seconds() - 60 })],
    ["of a clock ten minutes behind", "expired", () => world.ticket({ iat: seconds() - MINUTES_10, exp: seconds() - MINUTES_10 + 60 })],
    ["of a clock ten minutes ahead", "early", () => world.ticket({ iat: seconds() + MINUTES_10, exp: seconds() + MINUTES_10 + 60 })],
    ["not yet valid", "early", () => world.ticket({ nbf: seconds() + 30 })],
    ["valid for too long", "lifetime", () => world.ticket({ exp: seconds() + 3600 })],
    ["for another console", "audience", () => world.ticket({ aud: `https://other.test/embed/${world.host.id}` })],
    ["for another host page", "audience", () => world.ticket({ aud: "https://desk.test/embed/000000000000000000" })],
    ["of another signature", "signature", () => world.ticket({ secret: "x".repeat(43) })],
    ["without a signature", "algorithm", async () => `${base64({ alg: "none" })}.${base64(world.claims())}.`],
    [
      "of another algorithm",
      "algorithm",
      () => new SignJWT(world.claims()).setProtectedHeader({ alg: "HS512" }).sign(Buffer.from("x".repeat(64))),
    ],
    ["that is none", "unreadable", async () => "nonsense"],
    ["without an id", "claims", () => world.ticket({ jti: undefined })],
    ["of an origin that is not the host's", "origin", () => world.ticket({ iss: "https://evil.example.com" })],
    ["for a higher role", "role", () => world.ticket({ role: "admin" })],
    ["for the role owner", "claims", () => world.ticket({ role: "owner" })],
    ["for other pages", "pages", () => world.ticket({ pages: ["settings"] })],
    ["for a connection that is not there", "connection", () => world.ticket({ connection: "none" })],
    ["of nobody", "member", () => world.ticket({ sub: "nobody@desk.test" })],
    ["of a guest, where none may come", "guests", () => world.ticket({ sub: "visitor", guest: true })],
  ];

  it.each(wrongTickets)("%s", async (_name, reason, make) => {
    const response = await world.bring(await make());
    expect([response.status, response.headers.getSetCookie()]).toEqual([401, []]);
    expect((await response.json()).message).toBe(
      "The ticket of this page was not accepted. The person who runs Lightdesk can see why in Settings, Embedding.",
    );
    expect(await world.whyRefused()).toBe(reason);
  });

  it("presented by a page of another origin", async () => {
    expect((await world.bring(await world.ticket(), { origin: "https://evil.example.com" })).status).toBe(401);
    expect(await world.whyRefused()).toBe("origin");
  });

  it("was used before, also by two requests at once", async () => {
    const ticket = await world.ticket();
    const [first, second] = await Promise.all([world.bring(ticket), world.bring(ticket)]);
    expect([first.status, second.status].sort()).toEqual([201, 401]);
    expect((await world.bring(ticket, { slot: "anotherslot1" })).status).toBe(401);
    expect(await world.whyRefused()).toBe("replayed");
  });

  it("is refused at an unknown host page", async () => {
    expect((await world.bring(await world.ticket(), { id: "000000000000000000" })).status).toBe(404);
  });
});

describe("a session of an embedded page", () => {
  it("uses a cookie for this frame alone and reads what its member may", async () => {
    const response = await world.bring(await world.ticket());
    const cookie = response.headers.getSetCookie().find((value) => value.includes("lightdesk.embed")) ?? "";
    expect(cookie).toMatch(
      /^__Host-lightdesk\.embed\.abcdefgh1234=lde_[\w-]{43}; Max-Age=900; Path=\/; Secure; HttpOnly; SameSite=None; Partitioned$/,
    );
    expect(await response.json()).toEqual({ leftMs: EMBED_SESSION_MS, isSame: false });
  });

  it("works as a bearer when the browser stores no cookie", async () => {
    const response = await world.bring(await world.ticket(), { cookie: "" });
    expect(response.headers.getSetCookie()).toEqual([]);
    const { bearer } = await response.json();
    const embedHeaders = { [EMBED_PATH_HEADER]: `/embed/${world.host.id}/${SLOT}` };
    const getStatusWith = (headers: Record<string, string>) =>
      world.ask("/api/console/views?screen=jobs", { headers }).then(({ status }) => status);
    expect(await getStatusWith({ ...embedHeaders, authorization: `Bearer ${bearer}` })).toBe(200);
    expect(await getStatusWith({ ...embedHeaders, authorization: `Bearer lde_${"x".repeat(43)}` })).toBe(401);
    expect(await getStatusWith({ authorization: `Bearer ${bearer}` })).toBe(401);
    expect(await getStatusWith({ [EMBED_PATH_HEADER]: `/embed/${world.host.id}/anotherslot1`, authorization: `Bearer ${bearer}` })).toBe(
      401,
    );
  });

  it("works only below its own address, unlike the console's cookie", async () => {
    const { cookie, headers } = await world.enter();
    const getStatusWith = (options: object) => world.ask("/api/console/views?screen=jobs", options).then(({ status }) => status);
    expect(await getStatusWith({ cookie, headers })).toBe(200);
    expect(await getStatusWith({ cookie })).toBe(401);
    expect(await getStatusWith({ as: "owner", headers })).toBe(401);
  });

  it("explains what to do when a picture opens in a new tab", async () => {
    const { headers } = await world.enter();
    const inTab = await world.ask("/api/view?filename=a%20b.png", { headers: { ...headers, "sec-fetch-dest": "document" } });
    expect(inTab.status).toBe(302);
    const from = encodeURIComponent("/api/view?filename=a%20b.png");
    expect(inTab.headers.get("location")).toBe(`/embed/${world.host.id}/${SLOT}/start?from=${from}`);
    const inPage = await world.ask("/api/view?filename=a%20b.png", { headers: { ...headers, "sec-fetch-dest": "image" } });
    expect(inPage.status).toBe(401);
  });

  it("can exist next to another session of the same member", async () => {
    const item = await world.enter({}, "firstslot001");
    const otherSession = await world.enter({}, "secondslot02");
    expect((await world.ask("/api/embed/session", { ...item, method: "DELETE" })).status).toBe(204);
    expect((await world.ask("/api/embed/session", { ...item, method: "PATCH", json: {} })).status).toBe(401);
    expect((await world.ask("/api/embed/session", { ...otherSession, method: "PATCH", json: { theme: "dark" } })).status).toBe(204);
  });

  it("is renewed by the next ticket while earlier requests keep their expiry", async () => {
    const before = await world.enter();
    const response = await world.bring(await world.ticket(), { cookie: before.cookie });
    expect((await response.json()).isSame).toBe(true);
    const isOpen = async () => (await world.ask("/api/embed/session", { ...before, method: "PATCH", json: {} })).status;
    expect(await isOpen()).toBe(204);
    world.pass(EMBED_SESSION_MS + 1);
    await world.harness.renewCookies();
    expect(await isOpen()).toBe(401);
  });

  it("ends with its predecessors when the host page signs out", async () => {
    const before = await world.enter();
    const response = await world.bring(await world.ticket(), { cookie: before.cookie });
    const cookie = response.headers.getSetCookie()[0]?.split(";")[0] ?? "";
    expect((await world.ask("/api/embed/session", { ...before, cookie, method: "DELETE" })).status).toBe(204);
    for (const value of [before.cookie, cookie])
      expect((await world.ask("/api/embed/session", { ...before, cookie: value, method: "PATCH", json: {} })).status).toBe(401);
  });

  it("ends immediately with a ticket for another scope or person", async () => {
    for (const changes of [{ sub: "viewer@desk.test" }, { role: "viewer" }, { pages: ["jobs"] }]) {
      const before = await world.enter();
      const response = await world.bring(await world.ticket(changes), { cookie: before.cookie });
      expect((await response.json()).isSame).toBe(false);
      expect((await world.ask("/api/embed/session", { ...before, method: "PATCH", json: {} })).status).toBe(401);
    }
  });

  it("has the least rights of ticket, host page and member", async () => {
    const patchSession = async (changes: object) => {
      const session = await world.enter({ ...changes });
      return (await (await world.ask("/api/queue", { ...session, method: "POST", json: { clear: true } })).json()).code;
    };
    expect(await patchSession({ role: "viewer" })).toBe("ROLE_TOO_LOW");
    expect(await patchSession({ sub: "viewer@desk.test" })).toBe("ROLE_TOO_LOW");
    const asAdmin = await world.enter({ sub: "admin@desk.test" });
    expect((await world.ask("/api/console/members", asAdmin)).status).toBe(403);
  });

  it("never allows recent-sign-in actions or the member's own account", async () => {
    const { host, secret } = await world.addHost({ role: "admin", pages: ["settings"] });
    const ticket = await world.ticket({ secret, aud: host.audience, sub: "admin@desk.test" });
    const startResponse = await world.bring(ticket, { id: host.id });
    const cookie = startResponse.headers.getSetCookie()[0]?.split(";")[0] ?? "";
    const session = { cookie, headers: { [EMBED_PATH_HEADER]: `/embed/${host.id}/${SLOT}` } };
    expect((await world.ask("/api/console/members", session)).status).toBe(200);
    const invite = { ...session, method: "POST", json: { email: "new@desk.test", role: "viewer" } };
    expect((await world.ask("/api/console/members/invitations", invite)).status).toBe(403);
    expect((await world.ask("/api/console/account", { ...session, method: "PUT", json: { name: "Another" } })).status).toBe(403);
  });

  it("is limited to the connection that its ticket names", async () => {
    const shared = await world.harness.connect("http://127.0.0.1:9", "a key of a test");
    const first = await world.ownConnection();
    const session = await world.enter({ connection: first });
    const { connections } = await (await world.ask("/api/console/connections", session)).json();
    expect(connections.map(({ id }: { id: string }) => id)).toEqual([first]);
    expect((await world.ask(`/api/jobs?connection=${shared}`, session)).status).toBe(404);
  });

  it("reaches only the team's connections", async () => {
    const { memberId } = world.harness.viewerOf("operator");
    const { store, now } = world.harness.console;
    const ownConnection = await store.connections.create({ name: "Own", baseUrl: "http://127.0.0.1:9", memberId, createdAt: now() });
    const session = await world.enter();
    const { connections } = await (await world.ask("/api/console/connections", session)).json();
    const connectionIds = connections.map(({ id }: { id: string }) => id);
    expect([connectionIds.includes(await world.ownConnection()), connectionIds.includes(ownConnection.id)]).toEqual([true, false]);
    expect((await world.ask(`/api/jobs?connection=${ownConnection.id}`, session)).status).toBe(404);
    expect((await world.bring(await world.ticket({ connection: ownConnection.id }))).status).toBe(401);
    expect(await world.whyRefused()).toBe("connection");
  });

  it("is logged with its host page", async () => {
    const connection = await world.ownConnection();
    const session = await world.enter({ sub: "operator@desk.test" });
    await world.ask(`/api/queue?connection=${connection}`, { ...session, method: "POST", json: { clear: true } });
    const { entries } = await (await world.ask("/api/console/audit?action=manageQueue&limit=1", { as: "owner" })).json();
    expect(entries[0]).toMatchObject({ via: "embed Portal", member: { id: world.harness.viewerOf("operator").memberId } });
  });

  it("admits a guest, who isn't a member elsewhere", async () => {
    const { host, secret } = await world.addHost({ guests: true });
    const ticket = (changes = {}) => world.ticket({ secret, aud: host.audience, sub: "visitor 7", guest: true, name: "Grace", ...changes });
    const startResponse = await world.bring(await ticket(), { id: host.id });
    const session = {
      cookie: startResponse.headers.getSetCookie()[0]?.split(";")[0] ?? "",
      headers: { [EMBED_PATH_HEADER]: `/embed/${host.id}/${SLOT}` },
    };
    expect((await world.ask(`/api/jobs?connection=${await world.ownConnection()}`, session)).status).toBe(200);
    expect((await (await world.ask("/api/queue", { ...session, method: "POST", json: { clear: true } })).json()).code).toBe("ROLE_TOO_LOW");
    expect((await world.bring(await ticket({ role: "operator" }), { id: host.id })).status).toBe(201);
    const { members } = await (await world.ask("/api/console/members", { as: "owner" })).json();
    expect(JSON.stringify(members)).not.toContain("Grace");
  });

  it("ends by expiry, role change, suspension or removal of its member", async () => {
    const isOpen = async (session: object) =>
      (await world.ask("/api/embed/session", { ...session, method: "PATCH", json: {} })).status === 204;
    const old = await world.enter();
    world.pass(EMBED_SESSION_MS + 1);
    await world.harness.renewCookies();
    expect(await isOpen(old)).toBe(false);
    const getState = async (session: HarnessRequest) => (await world.ask("/api/console/session", session)).json();
    expect(await getState(old)).toEqual({ state: "ended", cause: "expired" });

    const lowered = await world.enter({ sub: "admin@desk.test" });
    expect((await world.giveRole("admin", "viewer")).status).toBe(200);
    expect(await isOpen(lowered)).toBe(false);
    expect(await getState(lowered)).toEqual({ state: "ended", cause: "role", from: "admin", to: "viewer" });
    expect(
      (
        await (
          await world.ask("/api/queue", { ...(await world.enter({ sub: "admin@desk.test" })), method: "POST", json: { clear: true } })
        ).json()
      ).code,
    ).toBe("ROLE_TOO_LOW");

    const { memberId } = world.harness.viewerOf("viewer");
    const suspended = await world.enter({ sub: "viewer@desk.test" });
    const path = `/api/console/members/${memberId}`;
    expect((await world.ask(path, { as: "owner", method: "PUT", json: { disabled: true } })).status).toBe(200);
    expect(await isOpen(suspended)).toBe(false);
    expect(await getState(suspended)).toEqual({ state: "ended", cause: "suspended" });
    expect((await world.bring(await world.ticket({ sub: "viewer@desk.test" }))).status).toBe(401);
    expect(await world.whyRefused()).toBe("suspended");

    expect((await world.ask(path, { as: "owner", method: "PUT", json: { disabled: false } })).status).toBe(200);
    const removed = await world.enter({ sub: "viewer@desk.test" });
    expect((await world.ask(path, { as: "owner", method: "DELETE" })).status).toBe(204);
    expect(await isOpen(removed)).toBe(false);
    expect((await world.bring(await world.ticket({ sub: "viewer@desk.test" }))).status).toBe(401);
    expect(await world.whyRefused()).toBe("member");
  });

  it("ends with a change of its host page, and with its removal", async () => {
    const { host, secret } = await world.addHost();
    const enter = async () => {
      const response = await world.bring(await world.ticket({ secret, aud: host.audience }), { id: host.id });
      return { cookie: response.headers.getSetCookie()[0]?.split(";")[0], headers: { [EMBED_PATH_HEADER]: `/embed/${host.id}/${SLOT}` } };
    };
    const isOpen = async (session: object) =>
      (await world.ask("/api/embed/session", { ...session, method: "PATCH", json: {} })).status === 204;
    const path = `/api/console/embedding/${host.id}`;
    const before = await enter();
    expect(await isOpen(before)).toBe(true);
    expect((await world.ask(path, { as: "owner", method: "PATCH", json: { role: "viewer" } })).status).toBe(200);
    expect(await isOpen(before)).toBe(false);
    const after = await enter();
    expect(await isOpen(after)).toBe(true);
    expect((await world.ask(path, { as: "owner", method: "DELETE" })).status).toBe(204);
    expect(await isOpen(after)).toBe(false);
  });
});
