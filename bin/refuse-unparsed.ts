// What is refused before there is a request: bytes that are no HTTP, headers that are too large or too slow, expectations and methods
// that nobody here knows. Without these handlers the answer would have no body.
// Guarantees: the envelope of every other refusal; the connection ends, since what follows on it cannot be told apart.
import { type Server, STATUS_CODES } from "node:http";
import { type Duplex } from "node:stream";

const unencoded = "The address holds characters that must be percent-encoded.";

export function refuseUnparsed(server: Server): void {
  server.on("clientError", (error: NodeJS.ErrnoException, socket) => {
    if (error.code === "ECONNRESET" || !socket.writable) return void socket.destroy();
    if (error.code === "HPE_HEADER_OVERFLOW")
      return end(socket, 431, "HEADERS_TOO_LARGE", "The address and headers are larger than 16 KiB.");
    if (error.code === "ERR_HTTP_REQUEST_TIMEOUT") return end(socket, 408, "REQUEST_TIMEOUT", "The headers did not come in time.");
    end(socket, 400, "BAD_REQUEST", error.code === "HPE_INVALID_URL" ? unencoded : "The request is not HTTP as it should be.");
  });
  server.on("checkExpectation", (_request, response) => {
    const body = JSON.stringify({ code: "EXPECTATION_FAILED", message: "Only 100-continue is understood in Expect." });
    response
      .writeHead(417, { "content-type": "application/json", "content-length": Buffer.byteLength(body), connection: "close" })
      .end(body);
  });
  server.on("connect", (_request, socket) => end(socket, 405, "METHOD_NOT_ALLOWED", "This is no proxy."));
}

function end(socket: Duplex, status: number, code: string, message: string): void {
  const body = JSON.stringify({ code, message });
  const head = `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ""}\r\ncontent-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\nconnection: close\r\n\r\n`;
  socket.end(head + body);
}
