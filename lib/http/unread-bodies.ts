// Bodies that the server does not read: of refused requests, and of clients that wait for `100 Continue` before they send.
// Guarantees: a refusal reaches a client that is still sending (closing with unread bytes would reset the connection and lose it); an
// unread body comes to its end within a bound, whatever a client does; `Expect: 100-continue` is answered when reading begins, at most
// once, and never after an answer.
import { type IncomingMessage, type Server, ServerResponse } from "node:http";
import { LENGTH_HEADER } from "@/lib/shared/headers";

const LINGER_MS = 5000;

/** The `ServerResponse` of either server (an option of `createServer`). */
export class Answer<Request extends IncomingMessage = IncomingMessage> extends ServerResponse<Request> {
  /** Next drops the length of a body, and copies this header, as a list. */
  override setHeader(name: string, value: number | string | readonly string[]): this {
    return name === LENGTH_HEADER ? super.setHeader("content-length", String(value)) : super.setHeader(name, value);
  }

  override end(...given: unknown[]): this {
    const { req, socket } = this;
    const end = (...rest: unknown[]): this => Reflect.apply(super.end, this, rest);
    if (this.writableEnded || req.complete || !socket || socket.destroyed) return end(...given);
    // Also on a connection that is kept: a body that never ends would hold it for ever.
    const timer = setTimeout(() => end() && socket.destroy(), LINGER_MS).unref();
    req.once("end", () => clearTimeout(timer));
    // Node closes the connection right after its last answer. An answer of known length is complete without its end, so the end can wait.
    if (!this.isLast() || !this.hasHeader("content-length")) return end(...given);
    const [body] = given;
    if (typeof body === "string" || body instanceof Uint8Array) this.write(body);
    else this.flushHeaders();
    socket.end();
    req.once("end", () => end());
    req.resume();
    return this;
  }

  private isLast(): boolean {
    // For HTTP/1.0, Node decides this without a header.
    if (!this.shouldKeepAlive) return true;
    return [this.getHeader("connection"), this.req.headers.connection].some((value) => /\bclose\b/i.test(String(value)));
  }
}

/** A client that has no right to send, or too much to send, is refused before a byte of the body travels. */
export function continueLate(server: Server): void {
  server.on("checkContinue", (request: IncomingMessage, response: ServerResponse) => {
    const onListener = (event: string | symbol) => {
      if (event !== "data" && event !== "readable") return;
      request.off("newListener", onListener);
      if (!response.headersSent) response.writeContinue();
    };
    request.on("newListener", onListener);
    server.emit("request", request, response);
  });
}
