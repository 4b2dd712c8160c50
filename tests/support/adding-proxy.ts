// A reverse proxy as people put one before clients that can send no key: it adds headers to every request and every WebSocket.
import { once } from "node:events";
import { createServer, request as ask } from "node:http";
import { type AddressInfo, connect } from "node:net";

/** `host`: where it listens, as host:port. */
export async function startAddingProxy(target: string, headers: Record<string, string>) {
  const { hostname, port, host } = new URL(target);
  const server = createServer((request, response) => {
    const onward = ask({ hostname, port, method: request.method, path: request.url, headers: { ...request.headers, host, ...headers } });
    onward.on("response", (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    });
    onward.on("error", () => response.destroy());
    request.pipe(onward);
  });
  server.on("upgrade", (request, socket, head) => {
    const onward = connect(Number(port), hostname);
    const lines = Object.entries({ ...request.headers, host, ...headers }).map(([name, value]) => `${name}: ${String(value)}`);
    onward.write(`GET ${request.url} HTTP/1.1\r\n${lines.join("\r\n")}\r\n\r\n`);
    onward.write(head);
    onward.pipe(socket).pipe(onward);
    for (const [one, other] of [
      [onward, socket],
      [socket, onward],
    ] as const) {
      one.on("error", () => other.destroy());
      one.on("close", () => other.destroy());
    }
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port: own } = server.address() as AddressInfo;
  return {
    host: `127.0.0.1:${own}`,
    stop() {
      server.closeAllConnections();
      server.close();
    },
  };
}
