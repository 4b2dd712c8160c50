// GET /ws of the console over real sockets: access, messages and disconnects.
import { once } from "node:events";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { WebSocket } from "ws";
import { asRecord, createColorGraph } from "@/tests/integration/service/support";
import { getRefusalStatus } from "@/tests/support/event-socket";
import { openTestServer } from "@/tests/support/servers";
import { createAccessToken } from "@/tests/support/tokens";
import { until } from "@/tests/support/until";
import { createEventHarness, KEY, waitForClose, waitForFirstMessage } from "./event-harness";

const eventHarness = await createEventHarness();
afterEach(() => eventHarness.terminateSockets());

describe("a member who is signed in", () => {
  it("receives a job's events from start to end in the API's format", async () => {
    const events = await eventHarness.openSocket("?clientId=mine", {
      ...eventHarness.getCookieHeaders("operator"),
      origin: eventHarness.url,
    });
    await waitForFirstMessage(events);
    expect(events.received[0]).toMatchObject({ type: "status", data: { sid: "mine" } });
    const response = await eventHarness.harness.request("/api/prompt", {
      as: "operator",
      method: "POST",
      json: { prompt: createColorGraph(0x302010, 32), client_id: "mine" },
    });
    const { prompt_id: id } = asRecord(await response.json()) as { prompt_id: string };
    await events.waitForEnd(id);
    expect(events.getMessages(id).map(({ type }) => type)).toEqual(
      expect.arrayContaining(["execution_start", "executed", "execution_success"]),
    );
  });

  it("is refused from another origin and accepted without an Origin header", async () => {
    expect(
      await getRefusalStatus(`${eventHarness.url}/ws`, { ...eventHarness.getCookieHeaders("owner"), origin: "https://elsewhere.example" }),
    ).toBe(403);
    expect(
      await getRefusalStatus(`${eventHarness.url}/ws`, { ...eventHarness.getCookieHeaders("owner"), "sec-fetch-site": "cross-site" }),
    ).toBe(403);
    await waitForFirstMessage(await eventHarness.openSocket("", eventHarness.getCookieHeaders("owner")));
  });

  it("gets 404 for an unknown or foreign connection", async () => {
    expect(
      await getRefusalStatus(
        `${eventHarness.url}/ws?connection=00000000-0000-4000-8000-000000000000`,
        eventHarness.getCookieHeaders("owner"),
      ),
    ).toBe(404);
  });
});

it("refuses missing, foreign and expired cookies and service keys", async () => {
  const { memberId } = eventHarness.harness.getViewer("viewer");
  const forgedCookie = await eventHarness.harness.mintCookie({ sub: memberId, version: 1 }, "another secret");
  const endedCookie = await eventHarness.harness.mintCookie({ sub: memberId, version: 1, sid: "ended" });
  await eventHarness.harness.console.store.sessions.end("ended");
  const { key } = await eventHarness.harness.console.serviceKeys().createKey("somebody");
  for (const headers of [{}, { cookie: forgedCookie }, { cookie: endedCookie }, { "x-api-key": key }] as Record<string, string>[])
    expect(await getRefusalStatus(`${eventHarness.url}/ws?token=${key}`, headers)).toBe(401);
});

it("sends no jobs to members or tokens limited to apps", async () => {
  expect(await getRefusalStatus(`${eventHarness.url}/ws`, eventHarness.getCookieHeaders("runner"))).toBe(403);
  for (const operations of ["reads" as const, "all" as const, ["events"]]) {
    const { headers } = await createAccessToken(eventHarness.harness, "runner", { operations });
    expect(await getRefusalStatus(`${eventHarness.url}/ws`, headers)).toBe(403);
  }
});

describe("listeners are disconnected at the next check", () => {
  let listener: { id: string; cookie: string };
  let count = 0;
  beforeEach(async () => {
    count += 1;
    const { store, now } = eventHarness.harness.console;
    const newMember = {
      name: "Listener",
      email: `listener-${count}@desk.test`,
      role: "operator" as const,
      passwordHash: "x",
      createdAt: now(),
    };
    const member = await store.members.create(newMember);
    if (!member) throw new Error("no member");
    listener = { id: member.id, cookie: await eventHarness.harness.mintCookie({ sub: member.id, version: member.sessionVersion }) };
  });
  const cases: Record<string, () => Promise<Response>> = {
    "when they were removed": () => eventHarness.harness.request(`/api/console/members/${listener.id}`, { as: "owner", method: "DELETE" }),
    "when their role was changed": () =>
      eventHarness.harness.request(`/api/console/members/${listener.id}`, { as: "owner", method: "PUT", json: { role: "viewer" } }),
    "when they ended all of their other sessions": async () => {
      const cookie = await eventHarness.harness.mintCookie({ sub: listener.id, version: 1 });
      return eventHarness.harness.request("/api/console/account/sessions", { cookie, method: "DELETE" });
    },
  };
  it.each(Object.keys(cases))("%s", async (name) => {
    const events = await eventHarness.openSocket("", { cookie: listener.cookie });
    await waitForFirstMessage(events);
    const closing = waitForClose(events);
    expect((await cases[name]?.())?.ok).toBe(true);
    eventHarness.runTimer();
    expect(await closing).toEqual([1008, "Your session has ended. Sign in again."]);
  });

  it("when their token's author is limited to apps", async () => {
    const { headers } = await createAccessToken(eventHarness.harness, "operator", { memberId: listener.id });
    const events = await eventHarness.openSocket("", headers);
    await waitForFirstMessage(events);
    const closing = waitForClose(events);
    await eventHarness.harness.console.store.members.change(listener.id, { role: "runner" });
    eventHarness.runTimer();
    expect(await closing).toEqual([1008, "This needs the role viewer."]);
  });

  it("when they signed out", async () => {
    const cookie = await eventHarness.harness.mintCookie({ sub: listener.id, version: 1, sid: "this one" });
    const events = await eventHarness.openSocket("", { cookie });
    await waitForFirstMessage(events);
    const closing = waitForClose(events);
    await eventHarness.harness.console.store.sessions.end("this one");
    eventHarness.runTimer();
    expect(await closing).toEqual([1008, "Your session has ended. Sign in again."]);
  });

  it("when they switched connections, but not with an explicit connection", async () => {
    const testServer = await openTestServer((_, response) => response.writeHead(404).end());
    const otherConnection = await eventHarness.harness.connect(testServer.url, KEY);
    const { id } = asRecord(
      await (await eventHarness.harness.request("/api/console/connections", { cookie: listener.cookie })).json().then(getFirst),
    );
    const [defaultEvents, namedEvents] = [
      await eventHarness.openSocket("", { cookie: listener.cookie }),
      await eventHarness.openSocket(`?connection=${String(id)}`, { cookie: listener.cookie }),
    ];
    for (const item of [defaultEvents, namedEvents]) await waitForFirstMessage(item);
    const closing = waitForClose(defaultEvents);
    const useResponse = await eventHarness.harness.request(`/api/console/connections/${otherConnection}/use`, {
      cookie: listener.cookie,
      method: "POST",
    });
    expect(useResponse.ok).toBe(true);
    eventHarness.runTimer();
    expect(await closing).toEqual([1008, "The connection was switched, changed or removed."]);
    expect(namedEvents.socket.readyState).toBe(WebSocket.OPEN);
    await eventHarness.harness.console.store.connections.remove(otherConnection);
  });
});
const getFirst = (response: unknown) => (asRecord(response).connections as unknown[])[0];

describe("a token", () => {
  it("is accepted in a header or in the URL, from any origin", async () => {
    const { token, headers } = await createAccessToken(eventHarness.harness, "viewer");
    const crossOriginHeaders = { origin: "https://elsewhere.example", "sec-fetch-site": "cross-site" };
    const cases: [string, Record<string, string>][] = [
      ["", headers],
      ["", { ...headers, ...crossOriginHeaders }],
      ["", { authorization: `Bearer ${token}` }],
      [`?token=${token}`, crossOriginHeaders],
      [`?token=${token}`, { ...headers, cookie: "lightdesk.session=nonsense" }],
    ];
    for (const [query, headers] of cases) {
      const events = await eventHarness.openSocket(query, headers);
      await waitForFirstMessage(events);
      await events.close();
    }
    expect(eventHarness.harness.getLog()).not.toContain(token);
  });

  it("is refused if wrong, contradictory or without events, whatever the cookie", async () => {
    const [validToken, limitedToken] = [
      await createAccessToken(eventHarness.harness, "owner"),
      await createAccessToken(eventHarness.harness, "owner", { operations: ["listJobs"] }),
    ];
    const otherToken = await createAccessToken(eventHarness.harness, "owner", { connectionIds: ["elsewhere"] });
    const { cookie } = eventHarness.getCookieHeaders("owner");
    const refusedRequests: [number, string, Record<string, string>][] = [
      [401, "?token=nonsense", { cookie }],
      [401, `?token=${limitedToken.token}`, { ...validToken.headers, cookie }],
      [400, `?token=${limitedToken.token}`, { authorization: `Bearer ${validToken.token}` }],
      [403, `?token=${limitedToken.token}`, { cookie }],
      [409, "", { ...otherToken.headers, cookie }],
      [404, "?connection=embedded", { ...otherToken.headers, cookie }],
    ];
    for (const [status, query, headers] of refusedRequests)
      expect([query, await getRefusalStatus(`${eventHarness.url}/ws${query}`, headers)]).toEqual([query, status]);
  });

  it("ends its sockets when revoked or when its member is suspended", async () => {
    const { store } = eventHarness.harness.console;
    const { memberId } = eventHarness.harness.getViewer("admin");
    const revocations: ((id: string) => Promise<unknown>)[] = [
      (id) => eventHarness.harness.request(`/api/console/tokens/${id}`, { as: "owner", method: "DELETE" }),
      () => store.members.change(memberId, { disabled: true }),
    ];
    for (const revoke of revocations) {
      const { id, headers } = await createAccessToken(eventHarness.harness, "admin");
      const events = await eventHarness.openSocket("", headers);
      await waitForFirstMessage(events);
      const closing = waitForClose(events);
      await revoke(id);
      eventHarness.runTimer();
      expect(await closing).toEqual([1008, "The token is no longer valid."]);
    }
    await store.members.change(memberId, { disabled: false });
  });
});

describe("a listener", () => {
  it("is disconnected at the second unanswered ping", async () => {
    const socket = new WebSocket(`${eventHarness.url.replace("http", "ws")}/ws`, {
      headers: eventHarness.getCookieHeaders("viewer"),
      autoPong: false,
    });
    eventHarness.trackSocket(socket);
    await once(socket, "message");
    eventHarness.runTimer();
    await once(socket, "ping");
    const closing = once(socket, "close");
    eventHarness.runTimer();
    expect((await closing)[0]).toBe(1006);
  });

  it("gets 429 beyond the socket limits until one closes", async () => {
    const ownSockets = [await eventHarness.openSocket(), await eventHarness.openSocket(), await eventHarness.openSocket()];
    expect(await getRefusalStatus(`${eventHarness.url}/ws`, eventHarness.getCookieHeaders("operator"))).toBe(429);
    await eventHarness.openSocket("", eventHarness.getCookieHeaders("viewer"));
    await eventHarness.openSocket("", eventHarness.getCookieHeaders("viewer"));
    expect(await getRefusalStatus(`${eventHarness.url}/ws`, eventHarness.getCookieHeaders("viewer"))).toBe(429);
    eventHarness.from.address = "192.0.2.2";
    await eventHarness.openSocket("", eventHarness.getCookieHeaders("viewer"));
    expect(await getRefusalStatus(`${eventHarness.url}/ws`, eventHarness.getCookieHeaders("viewer"))).toBe(429);
    await ownSockets[0]?.close();
    await until(
      "another socket is accepted",
      async () => (await getRefusalStatus(`${eventHarness.url}/ws`, eventHarness.getCookieHeaders("operator"))) === undefined,
    );
  });
});

it("closes every socket and accepts none when stopping", async () => {
  const events = await eventHarness.openSocket();
  const closing = waitForClose(events);
  eventHarness.sockets.close();
  expect(await closing).toEqual([1001, "The service is stopping."]);
  expect(await getRefusalStatus(`${eventHarness.url}/ws`, eventHarness.getCookieHeaders("operator"))).toBe(503);
});
