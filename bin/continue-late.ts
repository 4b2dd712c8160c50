// `Expect: 100-continue`: a sender keeps its body until it is asked for. It is asked when somebody begins to read, so that whoever has no
// right to send, or sends too much, or to nowhere, is told before a byte of the body travels.
// Guarantees: asked at most once, and never after an answer.
import { type Server } from "node:http";

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
