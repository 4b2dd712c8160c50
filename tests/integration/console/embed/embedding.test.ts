// Tickets of host pages through the console's routes: which ones open a session, and what ends it.
import { SignJWT } from "jose";
import { describe, expect, it } from "vitest";
import { EMBED_SESSION_MS } from "@/lib/contract/embed/embedding";
import { EMBED_PATH_HEADER } from "@/lib/shared/console-paths";
import { type HarnessRequest } from "@/tests/support/harness";
import { createEmbedHarness, SLOT } from "./embed-harness";

const embed = await createEmbedHarness();

const encodeBase64 = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64url");
const getNowSeconds = () => Math.floor(embed.harness.console.now() / 1000);
const createTicketAt = (offsetSeconds: number) => {
  const iat = getNowSeconds() + offsetSeconds;
  return embed.ticket({ iat, exp: iat + 60 });
};

describe("rejects an invalid ticket and shows the reason only to the host's admins", () => {
  const wrongTickets: [name: string, why: string, make: () => Promise<string>][] = [
    ["expired", "expired", () => createTicketAt(-120)],
    ["from a clock ten minutes ahead", "early", () => createTicketAt(600)],
    ["not yet valid", "early", () => embed.ticket({ nbf: getNowSeconds() + 30 })],
    ["valid for too long", "lifetime", () => embed.ticket({ exp: getNowSeconds() + 3600 })],
    ["for another console", "audience", () => embed.ticket({ aud: `https://other.test/embed/${embed.host.id}` })],
    ["for another host page", "audience", () => embed.ticket({ aud: "https://desk.test/embed/000000000000000000" })],
    ["with another signature", "signature", () => embed.ticket({ secret: "x".repeat(43) })],
    ["without a signature", "algorithm", async () => `${encodeBase64({ alg: "none" })}.${encodeBase64(embed.claims())}.`],
    [
      "with another algorithm",
      "algorithm",
      () => new SignJWT(embed.claims()).setProtectedHeader({ alg: "HS512" }).sign(Buffer.from("x".repeat(64))),
    ],
    ["that is not a token", "unreadable", async () => "nonsense"],
    ["without an id", "claims", () => embed.ticket({ jti: undefined })],
    ["from another issuer", "origin", () => embed.ticket({ iss: "https://evil.example.com" })],
    ["for a higher role", "role", () => embed.ticket({ role: "admin" })],
    ["for the role owner", "claims", () => embed.ticket({ role: "owner" })],
    ["for other pages", "pages", () => embed.ticket({ pages: ["settings"] })],
    ["for a missing connection", "connection", () => embed.ticket({ connection: "none" })],
    ["of an unknown member", "member", () => embed.ticket({ sub: "nobody@desk.test" })],
    ["of a guest when guests are not allowed", "guests", () => embed.ticket({ sub: "visitor", guest: true })],
  ];

  it.each(wrongTickets)("%s", async (_name, reason, createTicket) => {
    const response = await embed.bring(await createTicket());
    expect([response.status, response.headers.getSetCookie()]).toEqual([401, []]);
    expect((await response.json()).message).toBe(
      "The ticket of this page was not accepted. An admin can see the reason under Settings, Embedding.",
    );
    expect(await embed.getRefusalReason()).toBe(reason);
  });

  it("from a page of another origin", async () => {
    expect((await embed.bring(await embed.ticket(), { origin: "https://evil.example.com" })).status).toBe(401);
    expect(await embed.getRefusalReason()).toBe("origin");
  });

  it("used before, even in a parallel request", async () => {
    const ticket = await embed.ticket();
    const [first, second] = await Promise.all([embed.bring(ticket), embed.bring(ticket)]);
    expect([first.status, second.status].sort()).toEqual([201, 401]);
    expect((await embed.bring(ticket, { slot: "anotherslot1" })).status).toBe(401);
    expect(await embed.getRefusalReason()).toBe("replayed");
  });

  it("for an unknown host page", async () => {
    expect((await embed.bring(await embed.ticket(), { id: "000000000000000000" })).status).toBe(404);
  });
});

describe("a session of an embedded page", () => {
  it("sets a partitioned cookie for its frame only", async () => {
    const response = await embed.bring(await embed.ticket());
    const cookie = response.headers.getSetCookie().find((value) => value.includes("lightdesk.embed")) ?? "";
    expect(cookie).toMatch(
      /^__Host-lightdesk\.embed\.abcdefgh1234=lde_[\w-]{43}; Max-Age=900; Path=\/; Secure; HttpOnly; SameSite=None; Partitioned$/,
    );
    expect(await response.json()).toEqual({ leftMs: EMBED_SESSION_MS, isSame: false });
  });

  it("accepts a bearer token when the browser stores no cookie", async () => {
    const response = await embed.bring(await embed.ticket(), { cookie: "" });
    expect(response.headers.getSetCookie()).toEqual([]);
    const { bearer } = await response.json();
    const getStatusWith = async (token: string, slot?: string) => {
      const pathHeader = slot === undefined ? undefined : { [EMBED_PATH_HEADER]: `/embed/${embed.host.id}/${slot}` };
      const headers = { ...pathHeader, authorization: `Bearer ${token}` };
      return (await embed.request("/api/console/views?screen=jobs", { headers })).status;
    };
    const statuses = [await getStatusWith(bearer, SLOT), await getStatusWith(bearer), await getStatusWith(bearer, "anotherslot1")];
    expect(statuses).toEqual([200, 401, 401]);
    expect(await getStatusWith(`lde_${"x".repeat(43)}`, SLOT)).toBe(401);
  });

  it("is accepted only under its own path", async () => {
    const { cookie, headers } = await embed.enter();
    const getStatusWith = (options: object) => embed.request("/api/console/views?screen=jobs", options).then(({ status }) => status);
    expect(await getStatusWith({ cookie, headers })).toBe(200);
    expect(await getStatusWith({ cookie })).toBe(401);
    expect(await getStatusWith({ as: "owner", headers })).toBe(401);
  });

  it("redirects to the start page when a picture opens in a new tab", async () => {
    const { headers } = await embed.enter();
    const inTab = await embed.request("/api/view?filename=a%20b.png", { headers: { ...headers, "sec-fetch-dest": "document" } });
    expect(inTab.status).toBe(302);
    const from = encodeURIComponent("/api/view?filename=a%20b.png");
    expect(inTab.headers.get("location")).toBe(`/embed/${embed.host.id}/${SLOT}/start?from=${from}`);
    const inPage = await embed.request("/api/view?filename=a%20b.png", { headers: { ...headers, "sec-fetch-dest": "image" } });
    expect(inPage.status).toBe(401);
  });

  it("can exist next to another session of the same member", async () => {
    const firstSession = await embed.enter({}, { slot: "firstslot001" });
    const otherSession = await embed.enter({}, { slot: "secondslot02" });
    expect((await embed.request("/api/embed/session", { ...firstSession, method: "DELETE" })).status).toBe(204);
    expect(await embed.isOpen(firstSession)).toBe(false);
    expect((await embed.request("/api/embed/session", { ...otherSession, method: "PATCH", json: { theme: "dark" } })).status).toBe(204);
  });

  it("is renewed by the next ticket while earlier requests keep their expiry", async () => {
    const session = await embed.enter();
    const response = await embed.bring(await embed.ticket(), { cookie: session.cookie });
    expect((await response.json()).isSame).toBe(true);
    expect(await embed.isOpen(session)).toBe(true);
    embed.advanceClock(EMBED_SESSION_MS + 1);
    await embed.harness.renewCookies();
    expect(await embed.isOpen(session)).toBe(false);
  });

  it("ends with its predecessors when the host page signs out", async () => {
    const session = await embed.enter();
    const response = await embed.bring(await embed.ticket(), { cookie: session.cookie });
    const cookie = response.headers.getSetCookie()[0]?.split(";")[0] ?? "";
    expect((await embed.request("/api/embed/session", { ...session, cookie, method: "DELETE" })).status).toBe(204);
    for (const value of [session.cookie, cookie]) expect(await embed.isOpen({ ...session, cookie: value })).toBe(false);
  });

  it("ends immediately with a ticket for another scope or member", async () => {
    for (const changes of [{ sub: "viewer@desk.test" }, { role: "viewer" }, { pages: ["jobs"] }]) {
      const session = await embed.enter();
      const response = await embed.bring(await embed.ticket(changes), { cookie: session.cookie });
      expect((await response.json()).isSame).toBe(false);
      expect(await embed.isOpen(session)).toBe(false);
    }
  });

  it("has the least rights of ticket, host page and member", async () => {
    const getClearQueueCode = async (changes: object) => {
      const session = await embed.enter({ ...changes });
      return (await (await embed.request("/api/queue", { ...session, method: "POST", json: { clear: true } })).json()).code;
    };
    expect(await getClearQueueCode({ role: "viewer" })).toBe("ROLE_TOO_LOW");
    expect(await getClearQueueCode({ sub: "viewer@desk.test" })).toBe("ROLE_TOO_LOW");
    const asAdmin = await embed.enter({ sub: "admin@desk.test" });
    expect((await embed.request("/api/console/members", asAdmin)).status).toBe(403);
  });

  it("is limited to the connection that its ticket names", async () => {
    const shared = await embed.harness.connect("http://127.0.0.1:9", "a key of a test");
    const first = await embed.getEmbeddedConnectionId();
    const session = await embed.enter({ connection: first });
    const { connections } = await (await embed.request("/api/console/connections", session)).json();
    expect(connections.map(({ id }: { id: string }) => id)).toEqual([first]);
    expect((await embed.request(`/api/jobs?connection=${shared}`, session)).status).toBe(404);
  });

  it("reaches only the team's connections", async () => {
    const { memberId } = embed.harness.getViewer("operator");
    const { store, now } = embed.harness.console;
    const ownConnection = await store.connections.create({ name: "Own", baseUrl: "http://127.0.0.1:9", memberId, createdAt: now() });
    const session = await embed.enter();
    const { connections } = await (await embed.request("/api/console/connections", session)).json();
    const connectionIds = connections.map(({ id }: { id: string }) => id);
    expect(connectionIds).toContain(await embed.getEmbeddedConnectionId());
    expect(connectionIds).not.toContain(ownConnection.id);
    expect((await embed.request(`/api/jobs?connection=${ownConnection.id}`, session)).status).toBe(404);
    expect((await embed.bring(await embed.ticket({ connection: ownConnection.id }))).status).toBe(401);
    expect(await embed.getRefusalReason()).toBe("connection");
  });

  it("is logged with its host page", async () => {
    const connection = await embed.getEmbeddedConnectionId();
    const session = await embed.enter({ sub: "operator@desk.test" });
    await embed.request(`/api/queue?connection=${connection}`, { ...session, method: "POST", json: { clear: true } });
    const { entries } = await (await embed.request("/api/console/audit?action=manageQueue&limit=1", { as: "owner" })).json();
    expect(entries[0]).toMatchObject({ via: "embed Portal", member: { id: embed.harness.getViewer("operator").memberId } });
  });

  it("admits a guest, who isn't a member elsewhere", async () => {
    const hostPage = await embed.addHost({ guests: true });
    const claims = { sub: "visitor 7", guest: true, name: "Grace" };
    const session = await embed.enterHost(hostPage, claims);
    expect((await embed.request(`/api/jobs?connection=${await embed.getEmbeddedConnectionId()}`, session)).status).toBe(200);
    const clearQueue = await embed.request("/api/queue", { ...session, method: "POST", json: { clear: true } });
    expect((await clearQueue.json()).code).toBe("ROLE_TOO_LOW");
    await embed.enterHost(hostPage, { ...claims, role: "operator" });
    const { members } = await (await embed.request("/api/console/members", { as: "owner" })).json();
    expect(JSON.stringify(members)).not.toContain("Grace");
  });

  it("ends by expiry, role change, suspension or removal of its member", async () => {
    const expiredSession = await embed.enter();
    embed.advanceClock(EMBED_SESSION_MS + 1);
    await embed.harness.renewCookies();
    expect(await embed.isOpen(expiredSession)).toBe(false);
    const getState = async (session: HarnessRequest) => (await embed.request("/api/console/session", session)).json();
    expect(await getState(expiredSession)).toEqual({ state: "ended", cause: "expired" });

    const loweredSession = await embed.enter({ sub: "admin@desk.test" });
    expect((await embed.setRole("admin", "viewer")).status).toBe(200);
    expect(await embed.isOpen(loweredSession)).toBe(false);
    expect(await getState(loweredSession)).toEqual({ state: "ended", cause: "role", from: "admin", to: "viewer" });
    const asViewer = { ...(await embed.enter({ sub: "admin@desk.test" })), method: "POST", json: { clear: true } };
    expect((await (await embed.request("/api/queue", asViewer)).json()).code).toBe("ROLE_TOO_LOW");

    const { memberId } = embed.harness.getViewer("viewer");
    const suspendedSession = await embed.enter({ sub: "viewer@desk.test" });
    const path = `/api/console/members/${memberId}`;
    expect((await embed.request(path, { as: "owner", method: "PUT", json: { disabled: true } })).status).toBe(200);
    expect(await embed.isOpen(suspendedSession)).toBe(false);
    expect(await getState(suspendedSession)).toEqual({ state: "ended", cause: "suspended" });
    expect((await embed.bring(await embed.ticket({ sub: "viewer@desk.test" }))).status).toBe(401);
    expect(await embed.getRefusalReason()).toBe("suspended");

    expect((await embed.request(path, { as: "owner", method: "PUT", json: { disabled: false } })).status).toBe(200);
    const removedSession = await embed.enter({ sub: "viewer@desk.test" });
    expect((await embed.request(path, { as: "owner", method: "DELETE" })).status).toBe(204);
    expect(await embed.isOpen(removedSession)).toBe(false);
    expect((await embed.bring(await embed.ticket({ sub: "viewer@desk.test" }))).status).toBe(401);
    expect(await embed.getRefusalReason()).toBe("member");
  });

  it("ends when its host page is changed or removed", async () => {
    const hostPage = await embed.addHost();
    const path = `/api/console/embedding/${hostPage.host.id}`;
    const before = await embed.enterHost(hostPage);
    expect(await embed.isOpen(before)).toBe(true);
    expect((await embed.request(path, { as: "owner", method: "PATCH", json: { role: "viewer" } })).status).toBe(200);
    expect(await embed.isOpen(before)).toBe(false);
    const laterSession = await embed.enterHost(hostPage);
    expect(await embed.isOpen(laterSession)).toBe(true);
    expect((await embed.request(path, { as: "owner", method: "DELETE" })).status).toBe(204);
    expect(await embed.isOpen(laterSession)).toBe(false);
  });
});
