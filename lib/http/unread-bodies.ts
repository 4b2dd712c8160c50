// Bodies that are not read: of requests that are refused, and of senders that wait to be asked.
// Guarantees: a refusal reaches a client that is still sending (closing with bytes unread would reset the connection and lose it); what is
// not read comes to its end within a bound, whatever a client does; `Expect: 100-continue` is answered when reading begins, at
// most once, and never after an answer.
import { type IncomingMessage, type Server, type ServerResponse } from "node:http";

const LINGER_MS = 5000;

/** Our side ends first, what still comes is thrown away for a while, and only then the connection goes. */
export function lingerAfterRefusals(server: Server): void {
  server.on("request", (request: IncomingMessage, response: ServerResponse) => {
    // Both forget it when the request is read or ended elsewhere.
    const { socket } = request;
    response.once("prefinish", () => {
      if (request.complete || socket.destroyed) return;
      const close = socket.destroySoon.bind(socket);
      let isLingering = false;
      // Called by Node after the last answer of a connection, and again by the adapter when its own patience has ended.
      socket.destroySoon = () => {
        if (isLingering) return;
        isLingering = true;
        socket.end();
        request.resume();
      };
      // On a connection that is to be kept as well: a body that never ends would keep it for ever.
      const timer = setTimeout(() => socket.destroy(), LINGER_MS);
      const settle = () => clearTimeout(timer);
      socket.once("close", settle);
      request.once("end", () => {
        settle();
        socket.off("close", settle);
        socket.destroySoon = close;
        if (isLingering) close();
      });
    });
  });
}

/** So that whoever has no right to send, or sends too much, or to nowhere, is told before a byte of the body travels. */
export function continueLate(server: Server): void {
  server.on("checkContinue", (request, response) => {
    const read = request._read.bind(request);
    request._read = (size) => {
      request._read = read;
      if (!response.headersSent) response.writeContinue();
      read(size);
    };
    server.emit("request", request, response);
  });
}
