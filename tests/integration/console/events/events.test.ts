// GET /ws of the console over real sockets: who gets a connection's jobs, which messages, and when they are disconnected.
import { once } from "node:events";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { WebSocket } from "ws";
import { asRecord, canvas } from "@/tests/integration/service/support";
import { getRefusalStatus } from "@/tests/support/event-socket";
import { openTestServer } from "@/tests/support/servers";
import { makeToken } from "@/tests/support/tokens";
import { until } from "@/tests/support/until";
import { createEventWorld, KEY, waitForClose, waitForGreeting } from "./event-world";

const world = await createEventWorld();
afterEach(() => world.endSockets());

describe("a member who is signed in", () => {
  it("receives a job's events from start to end in the API's format", async () => {
    const events = await world.listen("?clientId=mine", { ...world.as("operator"), origin: world.url });
    await waitForGreeting(events);
    expect(events.received[0]).toMatchObject({ type: "status", data: { sid: "mine" } });
    const response = await world.harness.request("/api/prompt", {
      as: "operator",
      method: "POST",
      json: { prompt: canvas(0x302010, 32), client_id: "mine" },
    });
    const { prompt_id: id } = asRecord(await response.json()) as { prompt_id: string };
    await events.over(id);
    expect(events.of(id).map(({ type }) => type)).toEqual(expect.arrayContaining(["execution_start", "executed", "execution_success"]));
  });

  it("is refused from another origin and accepted without an Origin header", async () => {
    expect(await getRefusalStatus(`${world.url}/ws`, { ...world.as("owner"), origin: "https://elsewhere.example" })).toBe(403);
    expect(await getRefusalStatus(`${world.url}/ws`, { ...world.as("owner"), "sec-fetch-site": "cross-site" })).toBe(403);
    await waitForGreeting(await world.listen("", world.as("owner")));
  });

  it("gets 404 for an unknown or foreign connection", async () => {
    expect(await getRefusalStatus(`${world.url}/ws?connection=00000000-0000-4000-8000-000000000000`, world.as("owner"))).toBe(404);
  });
});

it("refuses missing, foreign and expired cookies and service keys", async () => {
  const { memberId } = world.harness.viewerOf("viewer");
  const forged = await world.harness.mintCookie({ sub: memberId, version: 1 }, "another secret");
  const old = await world.harness.mintCookie({ sub: memberId, version: 1, sid: "ended" });
  await world.harness.console.store.sessions.end("ended");
  const { key } = await world.harness.console.serviceKeys().createKey("somebody");
  for (const headers of [{}, { cookie: forged }, { cookie: old }, { "x-api-key": key }] as Record<string, string>[])
    expect(await getRefusalStatus(`${world.url}/ws?token=${key}`, headers)).toBe(401);
});

it("sends no jobs to members or tokens limited to apps", async () => {
  expect(await getRefusalStatus(`${world.url}/ws`, world.as("runner"))).toBe(403);
  for (const operations of ["reads" as const, "all" as const, ["events"]]) {
    const { headers } = await makeToken(world.harness, "runner", { operations });
    expect(await getRefusalStatus(`${world.url}/ws`, headers)).toBe(403);
  }
});

describe("listeners are disconnected at the next check", () => {
  let person: { id: string; cookie: string };
  let count = 0;
  beforeEach(async () => {
    count += 1;
    const { store, now } = world.harness.console;
    const newMember = { name: "Going", email: `going-${count}@desk.test`, role: "operator" as const, passwordHash: "x", createdAt: now() };
    const member = await store.members.create(newMember);
    if (!member) throw new Error("no member");
    person = { id: member.id, cookie: await world.harness.mintCookie({ sub: member.id, version: member.sessionVersion }) };
  });
  const cases: Record<string, () => Promise<Response>> = {
    "when they were removed": () => world.harness.request(`/api/console/members/${person.id}`, { as: "owner", method: "DELETE" }),
    "when their role was changed": () =>
      world.harness.request(`/api/console/members/${person.id}`, { as: "owner", method: "PUT", json: { role: "viewer" } }),
    "when they ended all of their other sessions": async () => {
      const cookie = await world.harness.mintCookie({ sub: person.id, version: 1 });
      return world.harness.request("/api/console/account/sessions", { cookie, method: "DELETE" });
    },
  };
  it.each(Object.keys(cases))("%s", async (name) => {
    const events = await world.listen("", { cookie: person.cookie });
    await waitForGreeting(events);
    const closing = waitForClose(events);
    expect((await cases[name]?.())?.ok).toBe(true);
    world.look();
    expect(await closing).toEqual([1008, "Your session has ended. Sign in again."]);
  });

  it("when their token's author is limited to apps", async () => {
    const { headers } = await makeToken(world.harness, "operator", { memberId: person.id });
    const events = await world.listen("", headers);
    await waitForGreeting(events);
    const closing = waitForClose(events);
    await world.harness.console.store.members.change(person.id, { role: "runner" });
    world.look();
    expect(await closing).toEqual([1008, "This needs the role viewer."]);
  });

  it("when they signed out", async () => {
    const cookie = await world.harness.mintCookie({ sub: person.id, version: 1, sid: "this one" });
    const events = await world.listen("", { cookie });
    await waitForGreeting(events);
    const closing = waitForClose(events);
    await world.harness.console.store.sessions.end("this one");
    world.look();
    expect(await closing).toEqual([1008, "Your session has ended. Sign in again."]);
  });

  it("when they switched connections, but not with an explicit connection", async () => {
    const testServer = await openTestServer((_, response) => response.writeHead(404).end());
    const otherConnection = await world.harness.connect(testServer.url, KEY);
    const { id } = asRecord(
      await (await world.harness.request("/api/console/connections", { cookie: person.cookie })).json().then(getFirst),
    );
    const [defaultEvents, namedEvents] = [
      await world.listen("", { cookie: person.cookie }),
      await world.listen(`?connection=${String(id)}`, { cookie: person.cookie }),
    ];
    for (const item of [defaultEvents, namedEvents]) await waitForGreeting(item);
    const closing = waitForClose(defaultEvents);
    const useResponse = await world.harness.request(`/api/console/connections/${otherConnection}/use`, {
      cookie: person.cookie,
      method: "POST",
    });
    expect(useResponse.ok).toBe(true);
    world.look();
    expect(await closing).toEqual([1008, "The connection was switched, changed or removed."]);
    expect(namedEvents.socket.readyState).toBe(WebSocket.OPEN);
    await world.harness.console.store.connections.remove(otherConnection);
  });
});
const getFirst = (response: unknown) => (asRecord(response).connections as unknown[])[0];

describe("a token", () => {
  it("is accepted in a header or in the address, from any origin", async () => {
    const { token, headers } = await makeToken(world.harness, "viewer");
    const foreign = { origin: "https://elsewhere.example", "sec-fetch-site": "cross-site" };
    const cases: [string, Record<string, string>][] = [
      ["", headers],
      ["", { ...headers, ...foreign }],
      ["", { authorization: `Bearer ${token}` }],
      [`?token=${token}`, foreign],
      [`?token=${token}`, { ...headers, cookie: "lightdesk.session=nonsense" }],
    ];
    for (const [query, headers] of cases) {
      const events = await world.listen(query, headers);
      await waitForGreeting(events);
      await events.close();
    }
    expect(world.harness.log()).not.toContain(token);
  });

  it("is refused if wrong, contradicted or without events, whatever the cookie", async () => {
    const [good, narrow] = [await makeToken(world.harness, "owner"), await makeToken(world.harness, "owner", { operations: ["listJobs"] })];
    const otherToken = await makeToken(world.harness, "owner", { connectionIds: ["elsewhere"] });
    const { cookie } = world.as("owner");
    const refused: [number, string, Record<string, string>][] = [
      [401, "?token=nonsense", { cookie }],
      [401, `?token=${narrow.token}`, { ...good.headers, cookie }],
      [400, `?token=${narrow.token}`, { authorization: `Bearer ${good.token}` }],
      [403, `?token=${narrow.token}`, { cookie }],
      [409, "", { ...otherToken.headers, cookie }],
      [404, "?connection=embedded", { ...otherToken.headers, cookie }],
    ];
    for (const [status, query, headers] of refused)
      expect([query, await getRefusalStatus(`${world.url}/ws${query}`, headers)]).toEqual([query, status]);
  });

  it("ends its sockets when revoked or when its member is suspended", async () => {
    const { store } = world.harness.console;
    const { memberId } = world.harness.viewerOf("admin");
    const ends: ((id: string) => Promise<unknown>)[] = [
      (id) => world.harness.request(`/api/console/tokens/${id}`, { as: "owner", method: "DELETE" }),
      () => store.members.change(memberId, { disabled: true }),
    ];
    for (const end of ends) {
      const { id, headers } = await makeToken(world.harness, "admin");
      const events = await world.listen("", headers);
      await waitForGreeting(events);
      const closing = waitForClose(events);
      await end(id);
      world.look();
      expect(await closing).toEqual([1008, "The token is no longer valid."]);
    }
    await store.members.change(memberId, { disabled: false });
  });
});

describe("a rejected listener", () => {
  it("is ended at the second unanswered ping", async () => {
    const socket = new WebSocket(`${world.url.replace("http", "ws")}/ws`, { headers: world.as("viewer"), autoPong: false });
    world.keep(socket);
    await once(socket, "message");
    world.look();
    await once(socket, "ping");
    const closing = once(socket, "close");
    world.look();
    expect((await closing)[0]).toBe(1006);
  });

  it("gets 429 beyond the socket limits until one closes", async () => {
    const ownSocket = [await world.listen(), await world.listen(), await world.listen()];
    expect(await getRefusalStatus(`${world.url}/ws`, world.as("operator"))).toBe(429);
    await world.listen("", world.as("viewer"));
    await world.listen("", world.as("viewer"));
    expect(await getRefusalStatus(`${world.url}/ws`, world.as("viewer"))).toBe(429);
    world.from.address = "192.0.2.2";
    await world.listen("", world.as("viewer"));
    expect(await getRefusalStatus(`${world.url}/ws`, world.as("viewer"))).toBe(429);
    await ownSocket[0]?.close();
    await until("there is room again", async () => (await getRefusalStatus(`${world.url}/ws`, world.as("operator"))) === undefined);
  });
});

it("closes every socket and accepts none when stopping", async () => {
  const events = await world.listen();
  const closing = waitForClose(events);
  world.sockets.close();
  expect(await closing).toEqual([1001, "The service is stopping."]);
  expect(await getRefusalStatus(`${world.url}/ws`, world.as("operator"))).toBe(503);
});
