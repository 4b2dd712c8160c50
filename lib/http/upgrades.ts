// Requests that ask to speak another protocol on their connection (RFC 9110, 7.8): one handler for a server, which knows every path.
// Guarantees: a WebSocket goes to the handler of its path or is refused with 404 and ended; an upgrade that nobody here speaks, such as
// the h2c that some clients offer with every first request, is answered as the plain request that it is without it.
// Must never: keep a socket that no handler took.
import { type IncomingMessage, type Server, STATUS_CODES } from "node:http";
import { type Duplex } from "node:stream";
import { writeExactJson } from "@/lib/contract/exact-json";

/** Takes the socket over, and ends it: whoever registers one judges who asks (Host, Origin, key or session) before it answers. */
export type UpgradeHandler = (request: IncomingMessage, socket: Duplex, head: Buffer) => void;

/** By the path of the address, without its query. */
export function handleUpgrades(server: Server, handlers: Readonly<Record<string, UpgradeHandler>> = {}): void {
  const byPath = new Map(Object.entries(handlers));
  server.on("upgrade", (request, socket, head) => {
    // Node takes its own listeners off: an error of a socket that nobody listens to would end the process.
    socket.on("error", () => socket.destroy());
    if (request.headers.upgrade?.toLowerCase() !== "websocket") return void withoutUpgrade(server, request, socket, head);
    const handler = byPath.get(request.url?.split(/[?#]/)[0] ?? "");
    if (!handler) return endSocket(socket, 404, "NOT_FOUND", "No WebSocket is spoken at this address.");
    try {
      handler(request, socket, head);
    } catch {
      endSocket(socket, 500, "INTERNAL", "The connection could not be opened.");
    }
  });
}

/** Answers on a socket that HTTP has let go of, and destroys it as soon as that is written. */
export function endSocket(socket: Duplex, status: number, code: string, message: string): void {
  const body = writeExactJson({ code, message });
  const head = `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ""}\r\ncontent-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\nconnection: close\r\n\r\n`;
  socket.end(head + body, () => socket.destroy());
}

/** The same bytes again, less the offer, on a connection that the server reads from its beginning. */
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
