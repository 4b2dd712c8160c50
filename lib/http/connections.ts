// Limits on what a server holds for one connection, one address, and all connections together.
// Guarantees: an address has a share of the descriptors, so that no single one takes them all; a connection has one request in work and
// few waiting; one that does not read its answer is ended; `destroyAll` leaves none, upgraded ones included.
// Must never: end a connection that waits for us, however long its answer takes.
import { type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { type Socket } from "node:net";
import { type Duplex } from "node:stream";
import { objectOf } from "@/lib/contract/json/json";
import { networkOf } from "@/lib/shared/ip-address";

export type ConnectionBounds = {
  all: number;
  /** For one IPv4 address or one IPv6 /64. */
  ofAddress: number;
  /** True for a proxy that all people come through: it has no limit of its own. */
  isProxy?: (address: string) => boolean;
  /** How long an answer may stay unread. */
  stallMs: number;
};

/** Browsers send one request after another; a client that sends more than this ahead of the answers wants to fill the memory. */
const MOST_WAITING = 16;
const MOST_CONNECTIONS = 8192;
const USUAL_DESCRIPTORS = 1024;

/** The rest of the descriptors is for files, databases and services: a request in work may need one beside its connection. */
export function shareDescriptors(): { all: number; ofAddress: number } {
  const all = Math.min(MOST_CONNECTIONS, Math.floor(descriptors() * 0.4));
  return { all, ofAddress: Math.floor(all / 4) };
}

function descriptors(): number {
  const { soft } = objectOf(objectOf(objectOf(process.report?.getReport())?.userLimits)?.open_files) ?? {};
  // "unlimited" if the system has no bound.
  return typeof soft === "number" ? soft : Number(soft) || USUAL_DESCRIPTORS;
}

type Handle = (request: IncomingMessage, response: ServerResponse) => void;

export type Connections = {
  /** Node parses and hands over all requests that arrive in one piece; without this, answers that wait for each other would all pile up. */
  oneAtATime(handle: Handle): Handle;
  /** A request of this connection is in work. */
  isBusy(socket: Duplex): boolean;
  destroyAll(): void;
};

export function boundConnections(server: Server, bounds: ConnectionBounds): Connections {
  const open = new Set<Socket>();
  const ofNetwork = new Map<string, number>();
  /** Requests that arrived ahead of their turn, on connections with a request in work. */
  const waitingOn = new Map<Duplex, (() => void)[]>();

  server.maxConnections = bounds.all;
  server.prependListener("connection", (socket) => {
    // Given back by the upgrade handler, and already counted.
    if (open.has(socket)) return;
    const network = networkOf(socket.remoteAddress ?? "");
    const count = ofNetwork.get(network) ?? 0;
    if (count >= bounds.ofAddress && !bounds.isProxy?.(socket.remoteAddress ?? "")) return void socket.destroy();
    open.add(socket);
    ofNetwork.set(network, count + 1);
    socket.once("close", () => {
      open.delete(socket);
      waitingOn.delete(socket);
      const left = (ofNetwork.get(network) ?? 1) - 1;
      if (left > 0) ofNetwork.set(network, left);
      else ofNetwork.delete(network);
    });
  });

  // Nothing moved in either direction: end it if the client does not read its answer, or if no request is in work (an idle connection too).
  server.setTimeout(bounds.stallMs, (socket) => {
    if (socket.writableLength > 0 || !waitingOn.has(socket)) socket.destroy();
  });

  return {
    oneAtATime(handle) {
      return (request, response) => {
        const { socket } = request;
        if (socket.destroyed) return;
        const start = () => {
          if (socket.destroyed) return;
          response.once("close", () => {
            const next = waitingOn.get(socket)?.shift();
            if (next) next();
            else waitingOn.delete(socket);
          });
          handle(request, response);
        };
        const waiting = waitingOn.get(socket);
        if (!waiting) {
          waitingOn.set(socket, []);
          start();
        } else if (waiting.length < MOST_WAITING) waiting.push(start);
        else socket.destroy();
      };
    },
    isBusy: (socket) => waitingOn.has(socket),
    destroyAll: () => open.forEach((socket) => socket.destroy()),
  };
}
