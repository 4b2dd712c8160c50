import { type IncomingMessage, type Server } from "node:http";
import { type Duplex } from "node:stream";
import { type WebSocket, WebSocketServer } from "ws";
import { type ErrorResponse, type Feed, type FeedAdmission, feedCloseCodes, type FeedEnd, type FeedTarget } from "@/lib/shared/http-types";
import { getTelemetry } from "@/lib/shared/telemetry";
import { endSocket, toErrorResponse } from "./error-responses";

/** Each handler checks the client (Origin, key or session) before it responds. */
export type UpgradeHandler = (request: IncomingMessage, socket: Duplex, head: Buffer) => void;

export function handleUpgrades(
  server: Server,
  handlers: Readonly<Record<string, UpgradeHandler>>,
  checkRequest: (request: IncomingMessage) => ErrorResponse | undefined,
): void {
  const handlersByPath = new Map(Object.entries(handlers));
  server.on("upgrade", (request, socket, head) => {
    // Node removes its own listeners, and an error on a socket without a listener would end the process.
    socket.on("error", () => socket.destroy());
    if (request.headers.upgrade?.toLowerCase() !== "websocket") return void handleWithoutUpgrade(server, request, socket, head);
    const errorResponse = checkRequest(request);
    if (errorResponse) return endSocket(socket, errorResponse);
    const handler = handlersByPath.get(request.url?.split(/[?#]/)[0] ?? "");
    if (!handler) return endSocket(socket, { status: 404, code: "NOT_FOUND", message: "There is no WebSocket at this address." });
    try {
      handler(request, socket, head);
    } catch {
      endSocket(socket, { status: 500, code: "INTERNAL", message: "The connection could not be opened." });
    }
  });
}

function handleWithoutUpgrade(
  server: Server,
  { method, url, httpVersion, rawHeaders }: IncomingMessage,
  socket: Duplex,
  head: Buffer,
): void {
  const lines = [`${method} ${url} HTTP/${httpVersion}`];
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index] ?? "";
    if (name.toLowerCase() !== "upgrade") lines.push(`${name}: ${rawHeaders[index + 1] ?? ""}`);
  }
  socket.removeAllListeners("error");
  socket.unshift(Buffer.concat([Buffer.from(`${lines.join("\r\n")}\r\n\r\n`, "latin1"), head]));
  server.emit("connection", socket);
}

const DEFAULT_BOUNDS = {
  total: 1000,
  perOwner: 64,
  perAddress: 256,
  maxBufferedBytes: 8 * 1024 * 1024,
};
const MAX_SENT_BYTES = 64 * 1024;
const MAX_SENT_MESSAGES = 1000;
const PING_INTERVAL_MS = 30_000;
const CLOSE_TIMEOUT_MS = 1000;

type AdmitListener = (request: IncomingMessage) => FeedAdmission | Promise<FeedAdmission>;
type Repeat = (ms: number, run: () => void) => { stop(): void };
type Options = { getAddress?: (request: IncomingMessage) => string; repeat?: Repeat; limits?: Partial<typeof DEFAULT_BOUNDS> };
type Socket = { peer: WebSocket; owner: string; address: string; feed: Feed | undefined; isAlive: boolean; messageCount: number };

export function createEventSockets(admit: AdmitListener, { getAddress = getRemoteAddress, repeat = startInterval, limits }: Options = {}) {
  const server = new WebSocketServer({ noServer: true, maxPayload: MAX_SENT_BYTES, perMessageDeflate: false, clientTracking: false });
  const sockets = new Set<Socket>();
  const bounds = { ...DEFAULT_BOUNDS, ...limits };
  let isClosing = false;
  getTelemetry().metrics?.registerGauge("lightdesk_open_streams", () => sockets.size);
  const pingTimer = repeat(PING_INTERVAL_MS, () => sockets.forEach((socket) => void checkSocket(socket)));

  const count = (matches: (socket: Socket) => boolean) => [...sockets].filter(matches).length;
  const isFull = (address: string) => sockets.size >= bounds.total || count((socket) => socket.address === address) >= bounds.perAddress;

  async function checkSocket(socket: Socket): Promise<void> {
    const { peer, feed } = socket;
    if (!socket.isAlive) return peer.terminate();
    if (socket.messageCount > MAX_SENT_MESSAGES) return endPeer(peer, { code: feedCloseCodes.notAllowed, reason: "Too many messages." });
    socket.isAlive = false;
    socket.messageCount = 0;
    peer.ping();
    // A failed check doesn't revoke access. The next ping checks again.
    const reason = await Promise.resolve()
      .then(() => feed?.findDenialReason())
      .catch(() => undefined);
    if (reason !== undefined) endPeer(peer, { code: feedCloseCodes.notAllowed, reason });
  }

  async function acceptConnection(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    const address = getAddress(request);
    if (isClosing) return rejectStopping(socket);
    if (isFull(address)) return rejectTooMany(socket);
    const admission = await admit(request);
    if (socket.destroyed) return;
    if (!admission.ok) return endSocket(socket, admission.error);
    // Check again, because other clients may have been admitted or a stop may have started.
    if (isClosing) return rejectStopping(socket);
    if (isFull(address) || count(({ owner }) => owner === admission.owner) >= bounds.perOwner) return rejectTooMany(socket);
    server.handleUpgrade(request, socket, head, (peer) => void serveSocket(peer, address, admission));
  }

  async function serveSocket(peer: WebSocket, address: string, { owner, open }: Extract<FeedAdmission, { ok: true }>): Promise<void> {
    const socket: Socket = { peer, owner, address, feed: undefined, isAlive: true, messageCount: 0 };
    sockets.add(socket);
    peer.on("error", () => peer.terminate());
    peer.on("pong", () => (socket.isAlive = true));
    peer.on("message", () => (socket.messageCount += 1));
    peer.on("close", () => {
      sockets.delete(socket);
      socket.feed?.stop();
    });
    const target: FeedTarget = {
      send(message) {
        if (peer.readyState !== peer.OPEN) return;
        if (peer.bufferedAmount > bounds.maxBufferedBytes) return peer.terminate();
        peer.send(message);
      },
      end: (feedEnd) => endPeer(peer, feedEnd),
    };
    try {
      socket.feed = await open(target);
    } catch {
      return endPeer(peer, { code: feedCloseCodes.tryLater, reason: "Job events can't be sent now. Try again." });
    }
    if (!socket.feed) return endPeer(peer, { code: feedCloseCodes.notAllowed, reason: "The key is no longer valid." });
    if (!sockets.has(socket)) socket.feed.stop();
  }

  const handler: UpgradeHandler = (request, socket, head) =>
    void acceptConnection(request, socket, head).catch((error: unknown) => endSocket(socket, toErrorResponse(error)));

  return {
    handler,
    /** Call before closing the server, which waits for every connection. */
    close(): void {
      isClosing = true;
      pingTimer.stop();
      for (const { peer } of sockets) endPeer(peer, { code: feedCloseCodes.goingAway, reason: "The service is stopping." });
    },
  };
}

function endPeer(peer: WebSocket, { code, reason }: FeedEnd): void {
  peer.close(code, reason);
  setTimeout(() => peer.terminate(), CLOSE_TIMEOUT_MS).unref();
}

function startInterval(ms: number, run: () => void): { stop(): void } {
  const timer = setInterval(run, ms).unref();
  return { stop: () => clearInterval(timer) };
}

function rejectStopping(socket: Duplex): void {
  endSocket(socket, { status: 503, code: "SERVICE_UNAVAILABLE", message: "The service is stopping." });
}

function rejectTooMany(socket: Duplex): void {
  endSocket(socket, { status: 429, code: "RATE_LIMITED", message: "Too many connections are open. Close one, or try again later." });
}

function getRemoteAddress(request: IncomingMessage): string {
  return request.socket.remoteAddress ?? "unknown";
}
