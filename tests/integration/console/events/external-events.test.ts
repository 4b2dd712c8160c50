// GET /ws of the console for an external service: a correct or hostile one, or one without /ws.
import { once } from "node:events";
import { createServer } from "node:http";
import { type AddressInfo } from "node:net";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type WebSocket, WebSocketServer } from "ws";
import { getRefusalStatus } from "@/tests/support/event-socket";
import { openTestServer } from "@/tests/support/servers";
import { until } from "@/tests/support/until";
import { createEventHarness, KEY, waitForClose, waitForFirstMessage } from "./event-harness";

const eventHarness = await createEventHarness();
afterEach(() => eventHarness.terminateSockets());

describe("an external service", () => {
  type Service = { url: string; requests: { url: string; headers: Record<string, unknown> }[]; peers: WebSocket[]; close(): Promise<void> };
  let service: Service;
  let connection: string;
  async function startService(autoPong = true): Promise<Service> {
    const http = createServer((_request, response) => void response.writeHead(404).end());
    const peers: WebSocket[] = [];
    const requests: Service["requests"] = [];
    const socketServer = new WebSocketServer({ server: http, path: "/below/ws", autoPong });
    socketServer.on("connection", (peer, request) => {
      requests.push({ url: request.url ?? "", headers: request.headers });
      peers.push(peer);
    });
    http.listen(0, "127.0.0.1");
    await once(http, "listening");
    const close = async () => {
      for (const peer of peers) peer.terminate();
      http.close();
      http.closeAllConnections();
      await once(http, "close");
    };
    return { url: `http://127.0.0.1:${(http.address() as AddressInfo).port}/below`, requests, peers, close };
  }
  beforeEach(async () => {
    service = await startService();
    connection = await eventHarness.harness.connect(service.url, KEY);
  });
  afterEach(async () => {
    eventHarness.terminateSockets();
  });
  async function openRelay(headers?: Record<string, string>) {
    const events = await eventHarness.openSocket(`?connection=${connection}&clientId=me&more=${KEY}x`, headers);
    await until("the service accepts the socket", () => service.peers.length > 0);
    const [peer] = service.peers;
    if (!peer) throw new Error("the service accepted no socket");
    return { events, peer };
  }

  it("receives the key in a header and the client id, but no browser headers", async () => {
    const { peer, events } = await openRelay({
      ...eventHarness.getCookieHeaders("operator"),
      origin: eventHarness.url,
      "user-agent": "a browser",
    });
    expect(service.requests).toEqual([
      { url: "/below/ws?clientId=me", headers: expect.objectContaining({ "x-api-key": KEY, "user-agent": "lightdesk" }) },
    ]);
    expect(Object.keys(service.requests[0]?.headers ?? {})).not.toEqual(expect.arrayContaining(["cookie"]));
    expect(service.requests[0]?.headers).not.toHaveProperty("origin");
    const closed = once(peer, "close");
    await events.close();
    await closed;
  });

  it("is relayed in order, with pictures, and without its key or secrets", async () => {
    const { peer, events } = await openRelay();
    const received: unknown[] = [];
    events.socket.on("message", (data: Buffer, isBinary: boolean) => received.push(isBinary ? [...data] : JSON.parse(data.toString())));
    const picture = Buffer.from([0, 0, 0, 1, 0, 0, 0, 2, 0x89, 0x50]);
    const sendEvent = (type: string, data: object) => peer.send(JSON.stringify({ type, data }));
    sendEvent("executing", { node: "1", prompt_id: "7", number: 18446744073709552000 });
    peer.send(picture);
    sendEvent("execution_error", { exception_message: `the key ${KEY} again`, [KEY]: encodeURIComponent(JSON.stringify(KEY)) });
    peer.send(`{"type":"status","data":"${[...KEY].map((letter) => `\\u00${letter.charCodeAt(0).toString(16)}`).join("")}"}`);
    sendEvent("execution_error", { current_inputs: { api_key_comfy_org: ["abc"], seed: [1] } });
    peer.send(`no JSON, but the key ${KEY}`);
    peer.send(Buffer.concat([Buffer.from([0, 0, 0, 3, 0, 0, 0, 1, 49]), Buffer.from(KEY)]));
    peer.send(`{"type":"seed","data":{"seed":18446744073709551615}}`);
    await until("all messages arrive", () => received.length === 6);
    expect(JSON.stringify(received)).not.toContain(KEY);
    expect(received.slice(0, 3)).toEqual([
      { type: "executing", data: { node: "1", prompt_id: "7", number: 18446744073709552000 } },
      [...picture],
      { type: "execution_error", data: { exception_message: "the key [REDACTED] again", "[REDACTED]": "%22[REDACTED]%22" } },
    ]);
    expect(received.slice(3, 5)).toEqual([
      { type: "status", data: "[REDACTED]" },
      { type: "execution_error", data: { current_inputs: { api_key_comfy_org: ["[REDACTED]"], seed: [1] } } },
    ]);
  });

  it("drops a slow listener instead of buffering without limit", async () => {
    const { peer, events } = await openRelay();
    events.socket.pause();
    const text = JSON.stringify({ type: "progress", data: { text: "x".repeat(64 * 1024) } });
    // Sends until the socket to the service is closed, since buffers in between have an unknown size.
    const closed = once(peer, "close");
    const timer = setInterval(() => peer.bufferedAmount < 1024 * 1024 && peer.send(text), 1);
    await closed;
    clearInterval(timer);
    const closing = waitForClose(events);
    events.socket.resume();
    expect((await closing)[0]).toBe(1006);
  });

  it("closes listeners with a reason on oversized messages, disconnects and timeouts", async () => {
    const largeStream = await openRelay();
    const first = waitForClose(largeStream.events);
    largeStream.peer.send(JSON.stringify({ type: "x", data: "x".repeat(9 * 1024 * 1024) }));
    expect(await first).toEqual([1013, "The service sent a message of more than 8 MiB."]);

    service.peers.length = 0;
    const closedStream = await openRelay();
    const second = waitForClose(closedStream.events);
    closedStream.peer.close(1000, `the key ${KEY}`);
    expect(await second).toEqual([1013, "The service closed the connection."]);

    const silent = await startService(false);
    connection = await eventHarness.harness.connect(silent.url, KEY);
    const events = await eventHarness.openSocket(`?connection=${connection}`);
    await until("the service accepts the socket", () => silent.peers.length > 0);
    const [peer] = silent.peers;
    peer?.send('{"type":"status","data":{}}');
    await waitForFirstMessage(events);
    const third = waitForClose(events);
    const ping = peer && once(peer, "ping");
    eventHarness.runTimer();
    await ping;
    // By the time of this response, the listener's pong has arrived.
    expect(await getRefusalStatus(`${eventHarness.url}/ws`)).toBe(401);
    eventHarness.runTimer();
    expect(await third).toEqual([1013, "The service closed the connection."]);
  });

  it("closes with distinct codes for no /ws, a refused key and no server", async () => {
    const responses: Record<number, [number, string]> = {
      404: [4404, "The service of this connection has no /ws."],
      200: [4404, "The service of this connection has no /ws."],
      302: [4404, "The service of this connection has no /ws."],
      401: [1008, "The service refuses the key of this connection."],
      503: [1013, "The service of this connection is unreachable."],
    };
    for (const [status, message] of Object.entries(responses)) {
      const testServer = await openTestServer((_, response) => response.writeHead(Number(status), { location: `${service.url}/ws` }).end());
      const id = await eventHarness.harness.connect(testServer.url, KEY);
      expect(await waitForClose(await eventHarness.openSocket(`?connection=${id}`)), status).toEqual(message);
      await testServer.close();
    }
    for (const path of ["http://127.0.0.1:1", "http://169.254.169.254"])
      expect(await waitForClose(await eventHarness.openSocket(`?connection=${await eventHarness.harness.connect(path, KEY)}`))).toEqual([
        1013,
        "The service of this connection is unreachable.",
      ]);
    expect(service.requests).toEqual([]);
  });

  it("disconnects listeners that used a replaced key", async () => {
    const { events } = await openRelay(eventHarness.getCookieHeaders("viewer"));
    const closing = waitForClose(events);
    await eventHarness.harness.request(`/api/console/connections/${connection}`, {
      as: "owner",
      method: "PUT",
      json: { key: "another-key-of-it", keep: true },
    });
    eventHarness.runTimer();
    expect(await closing).toEqual([1008, "The connection was switched, changed or removed."]);
  });
});
