// GET /ws of the console over real sockets: access, messages and disconnects.
import { once } from "node:events";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { WebSocket } from "ws";
import { createColorGraph } from "@/tests/integration/service/support";
import { getRefusalStatus } from "@/tests/support/event-socket";
import { type HarnessRequest } from "@/tests/support/harness";
import { openTestServer } from "@/tests/support/servers";
import { createAccessToken } from "@/tests/support/tokens";
import { until } from "@/tests/support/until";
import { createEventHarness, KEY, waitForClose, waitForFirstMessage } from "./event-harness";

const eventHarness = await createEventHarness();
const { harness, url, getCookieHeaders, openSocket, runTimer } = eventHarness;
const { store } = harness.console;
afterEach(() => eventHarness.terminateSockets());

const getStatus = (headers: Record<string, string>, query = "") => getRefusalStatus(`${url}/ws${query}`, headers);
/** Opens a socket and waits for its first message. */
async function listen(headers?: Record<string, string>, query?: string) {
  const events = await openSocket(query, headers);
  await waitForFirstMessage(events);
  return events;
}

describe("a member who is signed in", () => {
  it("receives a job's events from start to end in the API's format", async () => {
    const events = await listen({ ...getCookieHeaders("operator"), origin: url }, "?clientId=mine");
    expect(events.received[0]).toMatchObject({ type: "status", data: { sid: "mine" } });
    const json = { prompt: createColorGraph(0x302010, 32), client_id: "mine" };
    const response = await harness.request("/api/prompt", { as: "operator", method: "POST", json });
    const { prompt_id: id } = await response.json();
    await events.waitForEnd(id);
    expect(events.getMessages(id).map(({ type }) => type)).toEqual(
      expect.arrayContaining(["execution_start", "executed", "execution_success"]),
    );
  });

  it("is refused from another origin and accepted without an Origin header", async () => {
    const headers = getCookieHeaders("owner");
    expect(await getStatus({ ...headers, origin: "https://elsewhere.example" })).toBe(403);
    expect(await getStatus({ ...headers, "sec-fetch-site": "cross-site" })).toBe(403);
    await listen(headers);
  });

  it("gets 404 for an unknown or foreign connection", async () => {
    expect(await getStatus(getCookieHeaders("owner"), "?connection=00000000-0000-4000-8000-000000000000")).toBe(404);
  });
});

it("refuses missing, foreign and expired cookies and service keys", async () => {
  const { memberId } = harness.getViewer("viewer");
  const forgedCookie = await harness.mintCookie({ sub: memberId, version: 1 }, "another secret");
  const endedCookie = await harness.mintCookie({ sub: memberId, version: 1, sid: "ended" });
  await store.sessions.end("ended");
  const { key } = await harness.console.serviceKeys().createKey("somebody");
  for (const headers of [{}, { cookie: forgedCookie }, { cookie: endedCookie }, { "x-api-key": key }] as Record<string, string>[])
    expect(await getStatus(headers, `?token=${key}`)).toBe(401);
});

it("sends no jobs to members or tokens limited to apps", async () => {
  expect(await getStatus(getCookieHeaders("runner"))).toBe(403);
  for (const operations of ["reads" as const, "all" as const, ["events"]]) {
    const { headers } = await createAccessToken(harness, "runner", { operations });
    expect(await getStatus(headers)).toBe(403);
  }
});

describe("listeners are disconnected at the next check", () => {
  let listener: { id: string; sid: string; cookie: string };
  let count = 0;
  beforeEach(async () => {
    count += 1;
    const fields = { name: "Listener", email: `listener-${count}@desk.test`, role: "operator" as const, passwordHash: "x" };
    const member = await store.members.create({ ...fields, createdAt: harness.console.now() });
    if (!member) throw new Error("no member");
    const sid = `session-${count}`;
    listener = { id: member.id, sid, cookie: await harness.mintCookie({ sub: member.id, version: 1, sid }) };
  });
  const requestMember = async (options: HarnessRequest) =>
    expect((await harness.request(`/api/console/members/${listener.id}`, { as: "owner", ...options })).ok).toBe(true);

  it.each<[string, () => Promise<unknown>]>([
    ["they were removed", () => requestMember({ method: "DELETE" })],
    ["their role was changed", () => requestMember({ method: "PUT", json: { role: "viewer" } })],
    [
      "they ended all of their other sessions",
      async () => {
        const cookie = await harness.mintCookie({ sub: listener.id, version: 1 });
        return harness.request("/api/console/account/sessions", { cookie, method: "DELETE" });
      },
    ],
    ["they signed out", () => store.sessions.end(listener.sid)],
  ])("when %s", async (_, change) => {
    const closing = waitForClose(await listen({ cookie: listener.cookie }));
    await change();
    runTimer();
    expect(await closing).toEqual([1008, "Your session has ended. Sign in again."]);
  });

  it("when their token's author is limited to apps", async () => {
    const { headers } = await createAccessToken(harness, "operator", { memberId: listener.id });
    const closing = waitForClose(await listen(headers));
    await store.members.change(listener.id, { role: "runner" });
    runTimer();
    expect(await closing).toEqual([1008, "This needs the role viewer."]);
  });

  it("when they switched connections, but not with an explicit connection", async () => {
    const { cookie } = listener;
    const testServer = await openTestServer((_, response) => response.writeHead(404).end());
    const otherConnection = await harness.connect(testServer.url, KEY);
    const { connections } = await (await harness.request("/api/console/connections", { cookie })).json();
    const [defaultEvents, namedEvents] = [await listen({ cookie }), await listen({ cookie }, `?connection=${connections[0].id}`)];
    const closing = waitForClose(defaultEvents);
    const usePath = `/api/console/connections/${otherConnection}/use`;
    expect((await harness.request(usePath, { cookie, method: "POST" })).ok).toBe(true);
    runTimer();
    expect(await closing).toEqual([1008, "The connection was switched, changed or removed."]);
    expect(namedEvents.socket.readyState).toBe(WebSocket.OPEN);
    await store.connections.remove(otherConnection);
  });
});

describe("a token", () => {
  it("is accepted in a header or in the URL, from any origin", async () => {
    const { token, headers } = await createAccessToken(harness, "viewer");
    const crossOriginHeaders = { origin: "https://elsewhere.example", "sec-fetch-site": "cross-site" };
    const cases: [string, Record<string, string>][] = [
      ["", headers],
      ["", { ...headers, ...crossOriginHeaders }],
      ["", { authorization: `Bearer ${token}` }],
      [`?token=${token}`, crossOriginHeaders],
      [`?token=${token}`, { ...headers, cookie: "lightdesk.session=nonsense" }],
    ];
    for (const [query, headers] of cases) await (await listen(headers, query)).close();
    expect(harness.getLog()).not.toContain(token);
  });

  it("is refused if wrong, contradictory or without events, whatever the cookie", async () => {
    const [validToken, limitedToken] = [
      await createAccessToken(harness, "owner"),
      await createAccessToken(harness, "owner", { operations: ["listJobs"] }),
    ];
    const otherToken = await createAccessToken(harness, "owner", { connectionIds: ["elsewhere"] });
    const { cookie } = getCookieHeaders("owner");
    const refusedRequests: [number, string, Record<string, string>][] = [
      [401, "?token=nonsense", { cookie }],
      [401, `?token=${limitedToken.token}`, { ...validToken.headers, cookie }],
      [400, `?token=${limitedToken.token}`, { authorization: `Bearer ${validToken.token}` }],
      [403, `?token=${limitedToken.token}`, { cookie }],
      [409, "", { ...otherToken.headers, cookie }],
      [404, "?connection=embedded", { ...otherToken.headers, cookie }],
    ];
    for (const [status, query, headers] of refusedRequests) expect([query, await getStatus(headers, query)]).toEqual([query, status]);
  });

  it("ends its sockets when revoked or when its member is suspended", async () => {
    const { memberId } = harness.getViewer("admin");
    const revocations: ((id: string) => Promise<unknown>)[] = [
      (id) => harness.request(`/api/console/tokens/${id}`, { as: "owner", method: "DELETE" }),
      () => store.members.change(memberId, { disabled: true }),
    ];
    for (const revoke of revocations) {
      const { id, headers } = await createAccessToken(harness, "admin");
      const closing = waitForClose(await listen(headers));
      await revoke(id);
      runTimer();
      expect(await closing).toEqual([1008, "The token is no longer valid."]);
    }
    await store.members.change(memberId, { disabled: false });
  });
});

describe("a listener", () => {
  it("is disconnected at the second unanswered ping", async () => {
    const headers = getCookieHeaders("viewer");
    const socket = eventHarness.trackSocket(new WebSocket(`${url.replace("http", "ws")}/ws`, { headers, autoPong: false }));
    await once(socket, "message");
    runTimer();
    await once(socket, "ping");
    const closing = once(socket, "close");
    runTimer();
    expect((await closing)[0]).toBe(1006);
  });

  it("gets 429 beyond the socket limits until one closes", async () => {
    const [operator, viewer] = [getCookieHeaders("operator"), getCookieHeaders("viewer")];
    const ownSockets = [await openSocket(), await openSocket(), await openSocket()];
    expect(await getStatus(operator)).toBe(429);
    await openSocket("", viewer);
    await openSocket("", viewer);
    expect(await getStatus(viewer)).toBe(429);
    eventHarness.from.address = "192.0.2.2";
    await openSocket("", viewer);
    expect(await getStatus(viewer)).toBe(429);
    await ownSockets[0]?.close();
    await until("another socket is accepted", async () => (await getStatus(operator)) === undefined);
  });
});

it("closes every socket and accepts none when stopping", async () => {
  const closing = waitForClose(await openSocket());
  eventHarness.sockets.close();
  expect(await closing).toEqual([1001, "The service is stopping."]);
  expect(await getStatus(getCookieHeaders("operator"))).toBe(503);
});
