// A refusal has to reach a client that is still sending. Closing a connection with bytes unread resets it, and the client loses the answer
// that was on its way: so our side ends first, what still comes is thrown away for a while, and only then the connection goes.
// Guarantees: bounded in time, whatever a client does; connections whose requests were read to their end are left alone.
import { type Server } from "node:http";

const LINGER_MS = 5000;

export function lingerAfterRefusals(server: Server): void {
  server.on("request", (request, response) => {
    response.once("prefinish", () => {
      const { socket } = request;
      if (request.complete || socket.destroyed) return;
      const close = socket.destroySoon.bind(socket);
      let isLingering = false;
      // Called by Node after the last answer of a connection, and again by the adapter when its own patience has ended.
      socket.destroySoon = () => {
        if (isLingering) return;
        isLingering = true;
        socket.end();
        request.resume();
        const timer = setTimeout(() => socket.destroy(), LINGER_MS);
        socket.once("close", () => clearTimeout(timer));
      };
      request.once("end", () => {
        socket.destroySoon = close;
        if (isLingering) close();
      });
    });
  });
}
