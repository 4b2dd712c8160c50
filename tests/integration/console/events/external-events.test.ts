// GET /ws of the console for an external service: a correct or hostile one, or one without /ws.
import { once } from "node:events";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type WebSocket, WebSocketServer } from "ws";
import { getRefusalStatus } from "@/tests/support/event-socket";
import { openTestServer } from "@/tests/support/servers";
import { until } from "@/tests/support/until";
import { createEventHarness, KEY, waitForClose, waitForFirstMessage } from "./event-harness";

const eventHarness = await createEventHarness();
const { harness, url, getCookieHeaders, openSocket, runTimer } = eventHarness;
afterEach(() => eventHarness.terminateSockets());

describe("an external service", () => {
  let service: Awaited<ReturnType<typeof startService>>;
  let connection: string;
  async function startService(autoPong = true) {
    const peers: WebSocket[] = [];
    const requests: { url: string; headers: Record<string, unknown> }[] = [];
    const socketServer = new WebSocketServer({ noServer: true, autoPong });
    const server = await openTestServer(
      (_, response) => response.writeHead(404).end(),
      (request, socket, head) => {
        requests.push({ url: request.url ?? "", headers: request.headers });
        socketServer.handleUpgrade(request, socket, head, (peer) => peers.push(peer));
      },
    );
    return { url: `${server.url}/below`, requests, peers };
  }
  beforeEach(async () => {
    service = await startService();
    connection = await harness.connect(service.url, KEY);
  });
  async function openRelay(headers?: Record<string, string>) {
    const events = await openSocket(`?connection=${connection}&clientId=me&more=${KEY}x`, headers);
    await until("the service accepts the socket", () => service.peers.length > 0);
    const [peer] = service.peers;
    if (!peer) throw new Error("the service accepted no socket");
    return { events, peer };
  }

  it("receives the key in a header and the client id, but no browser headers", async () => {
    const { peer, events } = await openRelay({ ...getCookieHeaders("operator"), origin: url, "user-agent": "a browser" });
    expect(service.requests).toEqual([
      { url: "/below/ws?clientId=me", headers: expect.objectContaining({ "x-api-key": KEY, "user-agent": "lightdesk" }) },
    ]);
    for (const name of ["cookie", "origin"]) expect(service.requests[0]?.headers).not.toHaveProperty(name);
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
    sendEvent("too many values", { list: Array<number>(50_001).fill(1) });
    sendEvent("too many names", Object.fromEntries(Array.from({ length: 50_001 }, (_, index) => [`name-${index}`, 1])));
    peer.send(Buffer.concat([Buffer.from([0, 0, 0, 3, 0, 0, 0, 1, 49]), Buffer.from(KEY)]));
    peer.send(`{"type":"seed","data":{"seed":18446744073709551615}}`);
    await until("all messages arrive", () => received.length >= 6);
    expect(JSON.stringify(received)).not.toContain(KEY);
    expect(received.slice(0, 3)).toEqual([
      { type: "executing", data: { node: "1", prompt_id: "7", number: 18446744073709552000 } },
      [...picture],
      { type: "execution_error", data: { exception_message: "the key [REDACTED] again", "[REDACTED]": "%22[REDACTED]%22" } },
    ]);
    expect(received.slice(3)).toEqual([
      { type: "status", data: "[REDACTED]" },
      { type: "execution_error", data: { current_inputs: { api_key_comfy_org: ["[REDACTED]"], seed: [1] } } },
      { type: "seed", data: { seed: Number("18446744073709551615") } },
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
    connection = await harness.connect(silent.url, KEY);
    const events = await openSocket(`?connection=${connection}`);
    await until("the service accepts the socket", () => silent.peers.length > 0);
    const [peer] = silent.peers;
    peer?.send('{"type":"status","data":{}}');
    await waitForFirstMessage(events);
    const third = waitForClose(events);
    const ping = peer && once(peer, "ping");
    runTimer();
    await ping;
    // By the time of this response, the listener's pong has arrived.
    expect(await getRefusalStatus(`${url}/ws`)).toBe(401);
    runTimer();
    expect(await third).toEqual([1013, "The service closed the connection."]);
  });

  it("closes with distinct codes for no /ws, a refused key and no server", async () => {
    const missingSocketClose = [4404, "The service of this connection has no /ws."] as const;
    const unreachableClose = [1013, "The service of this connection is unreachable."] as const;
    const connectAndWait = async (baseUrl: string) => waitForClose(await openSocket(`?connection=${await harness.connect(baseUrl, KEY)}`));
    for (const [status, expected] of [
      [404, missingSocketClose],
      [200, missingSocketClose],
      [302, missingSocketClose],
      [401, [1008, "The service refuses the key of this connection."]],
      [503, unreachableClose],
    ] as const) {
      const testServer = await openTestServer((_, response) => response.writeHead(status, { location: `${service.url}/ws` }).end());
      expect([status, await connectAndWait(testServer.url)]).toEqual([status, expected]);
    }
    for (const baseUrl of ["http://127.0.0.1:1", "http://169.254.169.254"]) expect(await connectAndWait(baseUrl)).toEqual(unreachableClose);
    expect(service.requests).toEqual([]);
  });

  it("disconnects listeners that used a replaced key", async () => {
    const { events } = await openRelay(getCookieHeaders("viewer"));
    const closing = waitForClose(events);
    const json = { key: "another-key-of-it", keep: true };
    await harness.request(`/api/console/connections/${connection}`, { as: "owner", method: "PUT", json });
    runTimer();
    expect(await closing).toEqual([1008, "The connection was switched, changed or removed."]);
  });
});
