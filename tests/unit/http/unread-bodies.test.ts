import { once } from "node:events";
import { createServer } from "node:http";
import { connect } from "node:net";
import { expect, test } from "vitest";
import { Answer } from "@/lib/http/server";

test.each(["HTTP/1.0", "HTTP/1.1\r\nHost: a\r\nConnection: close"])(
  "a refusal reaches a client that is still sending, by %s",
  async (version) => {
    const server = createServer({ ServerResponse: Answer }, (_, response) => {
      response.statusCode = 401;
      response.setHeader("content-length", "4");
      response.end("none");
    });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    const address = server.address();
    const socket = connect({ port: typeof address === "object" && address ? address.port : 0, allowHalfOpen: true });
    const errors: string[] = [];
    let received = "";
    socket.on("error", ({ message }) => errors.push(message));
    socket.on("data", (chunk: Buffer) => (received += chunk.toString()));
    const closed = once(socket, "close");
    const body = Buffer.alloc(4 * 1024 ** 2);
    socket.write(`POST / ${version}\r\nContent-Length: ${body.length}\r\n\r\n`);
    await once(socket, "end");
    expect(received).toMatch(/^HTTP\/1\.1 401[^]*none$/);
    socket.end(body);
    await closed;
    expect(errors).toEqual([]);
    server.close();
  },
);
