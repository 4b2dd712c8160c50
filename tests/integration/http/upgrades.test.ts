import { once } from "node:events";
import { createServer, type Server } from "node:http";
import { type AddressInfo } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { handleUpgrades, type UpgradeHandler } from "@/lib/http/event-sockets";
import { openRaw, readRaw, sendRaw } from "@/tests/support/raw-http";
import { until } from "@/tests/support/until";

let server: Server | undefined;
afterEach(() => {
  server?.closeAllConnections();
  server?.close();
});

async function listening(handlers: Record<string, UpgradeHandler> = {}): Promise<string> {
  server = createServer((request, response) => {
    request.setEncoding("utf8");
    let body = "";
    request.on("data", (text: string) => (body += text));
    request.on("end", () => response.end(`${request.method} ${request.url} ${body} ${request.headers.upgrade ?? "plain"}`));
  });
  handleUpgrades(server, handlers, () => undefined);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return `http://127.0.0.1:${port}`;
}

const webSocket = (path: string) =>
  `GET ${path} HTTP/1.1\r\nHost: here\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n`;

const connections = () => new Promise((resolve) => server?.getConnections((_error, count) => resolve(count)));

describe("an upgrade", () => {
  it("to a WebSocket where none is spoken is refused, and its connection ends even when the other side keeps its own open", async () => {
    const url = await listening();
    const { socket, received } = openRaw(url);
    socket.allowHalfOpen = true;
    socket.write(webSocket("/jobs"));
    await until("it is answered", () => received().includes("}"));
    expect(readRaw(received())).toMatchObject({ status: 404, body: expect.stringContaining("NOT_FOUND") });
    await until("nothing is held", async () => (await connections()) === 0);
    socket.destroy();
  });

  it("goes to the handler of its path, with the query and with what was sent behind it", async () => {
    const url = await listening({
      "/ws": (request, socket, head) => void socket.end(`HTTP/1.1 101 Switching Protocols\r\n\r\n${request.url} ${head.toString()}`),
    });
    expect(await sendRaw(url, `${webSocket("/ws?clientId=7")}more`)).toContain("/ws?clientId=7 more");
  });

  it("that a handler fails at ends with 500, not with the server", async () => {
    const url = await listening({
      "/ws": () => {
        throw new Error("broken");
      },
    });
    expect(readRaw(await sendRaw(url, webSocket("/ws"))).status).toBe(500);
    expect(readRaw(await sendRaw(url, webSocket("/ws"))).status).toBe(500);
  });

  it("to a protocol that nobody speaks is answered as the request without it, with its body, and the connection goes on", async () => {
    const url = await listening();
    const offer = "Host: here\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAoAAAAAIAAAAA\r\n";
    const { socket, received } = openRaw(url);
    socket.write(`POST /a?b=c HTTP/1.1\r\n${offer}Content-Length: 4\r\n\r\nbo`);
    socket.write("dy");
    await until("it is answered", () => received().includes("POST /a?b=c body plain"));
    socket.write(`GET /again HTTP/1.1\r\nHost: here\r\nConnection: close\r\n\r\n`);
    await until("the next one too", () => received().includes("GET /again  plain"));
    socket.destroy();
  });
});
