import { type IncomingMessage, type Server } from "node:http";
import { type Duplex } from "node:stream";
import { type WebSocket, WebSocketServer } from "ws";
import { isStoreAway } from "@/lib/shared/error-codes";
import { type Feed, type FeedAdmission, type FeedEnd, feedEnds, type FeedTarget, type Refused } from "@/lib/shared/http-types";
import { telemetry } from "@/lib/shared/telemetry";
import { endSocket } from "./refusals";

/** Each handler checks who connects (Origin, key or session) before it answers. */
export type UpgradeHandler = (request: IncomingMessage, socket: Duplex, head: Buffer) => void;

export function handleUpgrades(
  server: Server,
  handlers: Readonly<Record<string, UpgradeHandler>>,
  checkRequest: (request: IncomingMessage) => Refused | undefined,
): void {
  const byPath = new Map(Object.entries(handlers));
  server.on("upgrade", (request, socket, head) => {
    // Node removes its own listeners, and an error on a socket without a listener would end the process.
    socket.on("error", () => socket.destroy());
    if (request.headers.upgrade?.toLowerCase() !== "websocket") return void withoutUpgrade(server, request, socket, head);
    const refused = checkRequest(request);
    if (refused) return endSocket(socket, refused);
    const handler = byPath.get(request.url?.split(/[?#]/)[0] ?? "");
    if (!handler) return endSocket(socket, { status: 404, code: "NOT_FOUND", message: "There is no WebSocket at this address." });
    try {
      handler(request, socket, head);
    } catch {
      endSocket(socket, { status: 500, code: "INTERNAL", message: "The connection could not be opened." });
    }
  });
}

function withoutUpgrade(server: Server, { method, url, httpVersion, rawHeaders }: IncomingMessage, socket: Duplex, head: Buffer): void {
  const lines = [`${method} ${url} HTTP/${httpVersion}`];
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] ?? "";
    if (name.toLowerCase() !== "upgrade") lines.push(`${name}: ${rawHeaders[at + 1] ?? ""}`);
  }
  socket.removeAllListeners("error");
  socket.unshift(Buffer.concat([Buffer.from(`${lines.join("\r\n")}\r\n\r\n`, "latin1"), head]));
  server.emit("connection", socket);
}

const DEFAULT_BOUNDS = {
  inAll: 1000,
  perOwner: 64,
  perAddress: 256,
  waitingBytes: 8 * 1024 * 1024,
};
const MAX_SENT_BYTES = 64 * 1024;
const MAX_SENT_MESSAGES = 1000;
const PING_MS = 30_000;
const CLOSE_MS = 1000;

type AdmitListener = (request: IncomingMessage) => FeedAdmission | Promise<FeedAdmission>;
type Repeat = (ms: number, run: () => void) => { stop(): void };
type Options = { addressOf?: (request: IncomingMessage) => string; repeat?: Repeat; limits?: Partial<typeof DEFAULT_BOUNDS> };
type Socket = { peer: WebSocket; owner: string; address: string; feed: Feed | undefined; answered: boolean; received: number };

export function createEventSockets(admit: AdmitListener, { addressOf = remoteAddress, repeat = repeatOnClock, limits }: Options = {}) {
  const server = new WebSocketServer({ noServer: true, maxPayload: MAX_SENT_BYTES, perMessageDeflate: false, clientTracking: false });
  const sockets = new Set<Socket>();
  const bounds = { ...DEFAULT_BOUNDS, ...limits };
  let isClosing = false;
  telemetry().metrics?.read("lightdesk_open_streams", () => sockets.size);
  const pings = repeat(PING_MS, () => sockets.forEach((socket) => void checkSocket(socket)));

  const count = (matches: (socket: Socket) => boolean) => [...sockets].filter(matches).length;
  const isFull = (address: string) => sockets.size >= bounds.inAll || count((socket) => socket.address === address) >= bounds.perAddress;

  async function checkSocket(socket: Socket): Promise<void> {
    const { peer, feed } = socket;
    if (!socket.answered) return peer.terminate();
    if (socket.received > MAX_SENT_MESSAGES) return end(peer, { code: feedEnds.notAllowed, reason: "Too many messages." });
    socket.answered = false;
    socket.received = 0;
    peer.ping();
    // An outage does not mean that a right was lost: the right is checked again at the next ping.
    const reason = await Promise.resolve()
      .then(() => feed?.objection())
      .catch(() => undefined);
    if (reason !== undefined) end(peer, { code: feedEnds.notAllowed, reason });
  }

  async function take(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    const address = addressOf(request);
    if (isClosing) return stopping(socket);
    if (isFull(address)) return tooMany(socket);
    const admission = await admit(request);
    if (socket.destroyed) return;
    if (!admission.ok) return endSocket(socket, admission.refused);
    // While this client was being admitted, others may have been too, or a stop may have begun.
    if (isClosing) return stopping(socket);
    if (isFull(address) || count(({ owner }) => owner === admission.owner) >= bounds.perOwner) return tooMany(socket);
    server.handleUpgrade(request, socket, head, (peer) => void serve(peer, address, admission));
  }

  async function serve(peer: WebSocket, address: string, { owner, open }: Extract<FeedAdmission, { ok: true }>): Promise<void> {
    const socket: Socket = { peer, owner, address, feed: undefined, answered: true, received: 0 };
    sockets.add(socket);
    peer.on("error", () => peer.terminate());
    peer.on("pong", () => (socket.answered = true));
    peer.on("message", () => (socket.received += 1));
    peer.on("close", () => {
      sockets.delete(socket);
      socket.feed?.stop();
    });
    const target: FeedTarget = {
      send(message) {
        if (peer.readyState !== peer.OPEN) return;
        if (peer.bufferedAmount > bounds.waitingBytes) return peer.terminate();
        peer.send(message);
      },
      end: (feedEnd) => end(peer, feedEnd),
    };
    try {
      socket.feed = await open(target);
    } catch {
      return end(peer, { code: feedEnds.tryLater, reason: "Events of jobs cannot be sent now. Try again." });
    }
    if (!socket.feed) return end(peer, { code: feedEnds.notAllowed, reason: "The key is no longer valid." });
    if (!sockets.has(socket)) socket.feed.stop();
  }

  const handler: UpgradeHandler = (request, socket, head) =>
    void take(request, socket, head).catch((error: unknown) => endSocket(socket, isStoreAway(error) ? away : broken));

  return {
    handler,
    /** To be called before the server is closed, since that waits for every connection. */
    close(): void {
      isClosing = true;
      pings.stop();
      for (const { peer } of sockets) end(peer, { code: feedEnds.goingAway, reason: "The service is stopping." });
    },
  };
}

const broken: Refused = { status: 500, code: "INTERNAL", message: "The connection could not be opened." };
const away: Refused = { status: 503, code: "SERVICE_UNAVAILABLE", message: "The database is unavailable. Try again in a moment." };

function end(peer: WebSocket, { code, reason }: FeedEnd): void {
  peer.close(code, reason);
  setTimeout(() => peer.terminate(), CLOSE_MS).unref();
}

function repeatOnClock(ms: number, run: () => void): { stop(): void } {
  const timer = setInterval(run, ms).unref();
  return { stop: () => clearInterval(timer) };
}

function stopping(socket: Duplex): void {
  endSocket(socket, { status: 503, code: "SERVICE_UNAVAILABLE", message: "The service is stopping." });
}

function tooMany(socket: Duplex): void {
  endSocket(socket, { status: 429, code: "RATE_LIMITED", message: "Too many connections are open. Close one, or try again later." });
}

function remoteAddress(request: IncomingMessage): string {
  return request.socket.remoteAddress ?? "unknown";
}
