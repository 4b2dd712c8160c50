// The WebSockets of one path: text and binary messages from a feed to whoever was admitted. What a client sends is read and thrown away.
// Guarantees: bounded in sockets (in all, per owner, per address), in what a client may send, and in what waits for a slow one, which is
// ended; a peer that does not answer a ping is ended; whoever would not be admitted any more is ended at the next ping.
// Must never: keep a socket after `close`.

import { type IncomingMessage } from "node:http";
import { type Duplex } from "node:stream";
import { type WebSocket, WebSocketServer } from "ws";
import { endSocket, type Refused } from "./refusals";
import { type UpgradeHandler } from "./upgrades";

const MOST_IN_ALL = 1000;
const MOST_PER_OWNER = 64;
const MOST_PER_ADDRESS = 256;
/** A client has nothing to say but what it is able to. */
const MOST_SENT_BYTES = 64 * 1024;
const MOST_SENT_MESSAGES = 1000;
const MOST_WAITING_BYTES = 8 * 1024 * 1024;
const PING_MS = 30_000;
const CLOSE_MS = 1000;

const GOING_AWAY = 1001;
const NOT_ALLOWED = 1008;
const TRY_LATER = 1013;

export type Feed = { stop(): void; isAllowed(): boolean | Promise<boolean> };
export type FeedTarget = {
  send(message: string | Uint8Array): void;
  /** The source has ended. */
  end(): void;
};
export type Admission = { ok: true; owner: string; open(target: FeedTarget): Feed | undefined } | { ok: false; refused: Refused };
export type Admit = (request: IncomingMessage) => Admission | Promise<Admission>;
type Socket = { peer: WebSocket; owner: string; address: string; feed: Feed | undefined; answered: boolean; heard: number };

export function createEventSockets(admit: Admit, { addressOf = remoteAddress, pingMs = PING_MS } = {}) {
  const server = new WebSocketServer({ noServer: true, maxPayload: MOST_SENT_BYTES, perMessageDeflate: false, clientTracking: false });
  const sockets = new Set<Socket>();
  let isClosing = false;
  const pings = setInterval(() => sockets.forEach((socket) => void look(socket)), pingMs).unref();

  const count = (which: (socket: Socket) => boolean) => [...sockets].filter(which).length;

  async function look(socket: Socket): Promise<void> {
    const { peer, feed } = socket;
    if (!socket.answered) return peer.terminate();
    if (socket.heard > MOST_SENT_MESSAGES) return end(peer, NOT_ALLOWED, "Too many messages.");
    socket.answered = false;
    socket.heard = 0;
    peer.ping();
    // An outage says nothing of anybody's right: it is asked again at the next ping.
    const isAllowed = await Promise.resolve(feed?.isAllowed()).catch(() => true);
    if (isAllowed === false) end(peer, NOT_ALLOWED, "The key or the session is no longer valid.");
  }

  async function take(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    const address = addressOf(request);
    if (isClosing) return endSocket(socket, { status: 503, code: "SERVICE_UNAVAILABLE", message: "The service is stopping." });
    if (sockets.size >= MOST_IN_ALL || count((one) => one.address === address) >= MOST_PER_ADDRESS) return tooMany(socket);
    const admission = await admit(request);
    if (socket.destroyed) return;
    if (!admission.ok) return endSocket(socket, admission.refused);
    if (count(({ owner }) => owner === admission.owner) >= MOST_PER_OWNER) return tooMany(socket);
    server.handleUpgrade(request, socket, head, (peer) => serve(peer, address, admission));
  }

  function serve(peer: WebSocket, address: string, { owner, open }: Extract<Admission, { ok: true }>): void {
    const one: Socket = { peer, owner, address, feed: undefined, answered: true, heard: 0 };
    sockets.add(one);
    peer.on("error", () => peer.terminate());
    peer.on("pong", () => (one.answered = true));
    peer.on("message", () => (one.heard += 1));
    peer.on("close", () => {
      sockets.delete(one);
      one.feed?.stop();
    });
    one.feed = open({
      send(message) {
        if (peer.readyState !== peer.OPEN) return;
        if (peer.bufferedAmount > MOST_WAITING_BYTES) return peer.terminate();
        peer.send(message);
      },
      end: () => end(peer, TRY_LATER, "The source of the messages has ended."),
    });
    if (!one.feed) end(peer, isClosing ? GOING_AWAY : NOT_ALLOWED, "");
  }

  const handler: UpgradeHandler = (request, socket, head) =>
    void take(request, socket, head).catch(() =>
      endSocket(socket, { status: 500, code: "INTERNAL", message: "The connection could not be opened." }),
    );

  return {
    handler,
    /** Before the server is closed, which waits for every connection. */
    close(): void {
      isClosing = true;
      clearInterval(pings);
      for (const { peer } of sockets) end(peer, GOING_AWAY, "The service is stopping.");
    },
  };
}

/** A peer that does not close in turn is not waited for. */
function end(peer: WebSocket, code: number, reason: string): void {
  peer.close(code, reason);
  setTimeout(() => peer.terminate(), CLOSE_MS).unref();
}

function tooMany(socket: Duplex): void {
  endSocket(socket, { status: 429, code: "RATE_LIMITED", message: "Too many connections are open. Close one, or try again later." });
}

function remoteAddress(request: IncomingMessage): string {
  return request.socket.remoteAddress ?? "unknown";
}
