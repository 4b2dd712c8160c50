// Requests that ask to speak another protocol on their connection (RFC 9110, 7.8): one handler for a server, which knows every path.
// Guarantees: a WebSocket goes to the handler of its path or is refused with 404 and ended; an upgrade that this server does not speak,
// such as the h2c that some clients offer with every first request, is answered as a plain request.
// Must never: keep a socket that no handler took.
import { type IncomingMessage, type Server } from "node:http";
import { type Duplex } from "node:stream";
import { withoutBasePath } from "./base-path";
import { endSocket, type Refused } from "./refusals";

/** Takes the socket over, and ends it. Each handler checks who asks (Origin, key or session) before it answers. */
export type UpgradeHandler = (request: IncomingMessage, socket: Duplex, head: Buffer) => void;

/** `handlers`: by the path of the address, without its query. `judge`: refuses requests before any handler sees them. */
export function handleUpgrades(
  server: Server,
  handlers: Readonly<Record<string, UpgradeHandler>>,
  judge: (request: IncomingMessage) => Refused | undefined,
  basePath = "",
): void {
  const byPath = new Map(Object.entries(handlers));
  server.on("upgrade", (request, socket, head) => {
    // Node removes its own listeners, and an error on a socket without a listener would end the process.
    socket.on("error", () => socket.destroy());
    if (request.headers.upgrade?.toLowerCase() !== "websocket") return void withoutUpgrade(server, request, socket, head);
    // Not earlier: a request that is handled again as a plain one enters through the server again, which removes the base path itself.
    request.url = withoutBasePath(request.url ?? "", basePath);
    const refused = judge(request);
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

/** Feeds the same bytes, without the offer, to the server as a new connection. */
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
