// A reverse proxy: adds headers to every request and WebSocket, or serves the server below a path of a shared host.
import { once } from "node:events";
import { createServer, type IncomingMessage, request as ask } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { type Duplex } from "node:stream";

type Proxying = {
  headers?: Record<string, string>;
  /** Other paths return 404. `isTakenOff`: the proxy strips the path. */
  path?: { name: string; isTakenOff: boolean };
};

/**
 * `targetOf` is called per request, since a server may need the proxy's address before it has its own. Returns `host`, where the proxy listens, and
 * `others`, the requests outside the path.
 */
export async function startProxy(targetOf: () => string, { headers = {}, path }: Proxying) {
  const toTarget = (request: IncomingMessage) => {
    const { hostname, port, host } = new URL(targetOf());
    // Below a path, browsers use the proxy's own address, so the server must get that host.
    return { hostname, port, url: urlBehind(request.url ?? "/"), sent: { ...request.headers, ...(!path && { host }), ...headers } };
  };
  const urlBehind = (url: string) => {
    if (!path) return url;
    const rest = url.startsWith(path.name) ? url.slice(path.name.length) : undefined;
    if (rest === undefined || !/^([/?]|$)/.test(rest)) return undefined;
    return path.isTakenOff ? `/${rest.replace(/^\//, "")}` : url;
  };
  const otherNames: string[] = [];
  const server = createServer((request, response) => {
    const { hostname, port, url, sent } = toTarget(request);
    if (url === undefined) {
      otherNames.push(request.url ?? "");
      return void response.writeHead(404).end("the other product");
    }
    const forwarded = ask({ hostname, port, method: request.method, path: url, headers: sent });
    forwarded.on("response", (upstreamResponse) => {
      response.writeHead(upstreamResponse.statusCode ?? 502, upstreamResponse.headers);
      upstreamResponse.pipe(response);
    });
    forwarded.on("error", () => response.destroy());
    // Proxies abort a request whose client has disconnected.
    response.on("close", () => forwarded.destroy());
    request.pipe(forwarded);
  });
  server.on("upgrade", (request, socket, head) => {
    const { hostname, port, url, sent } = toTarget(request);
    if (url === undefined) return void socket.destroy();
    passUpgrade(request, socket, head, { hostname, port, url, sent });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port: ownPort } = server.address() as AddressInfo;
  return {
    host: `127.0.0.1:${ownPort}`,
    others: otherNames,
    stop() {
      server.closeAllConnections();
      server.close();
    },
  };
}

type Onward = { hostname: string; port: string; url: string; sent: Record<string, unknown> };

/** Pipes upgraded connections in both directions until one side ends. */
export function passUpgrade({ method }: IncomingMessage, socket: Duplex, head: Buffer, { hostname, port, url, sent }: Onward): void {
  const forwarded = connect(Number(port), hostname);
  const lines = Object.entries(sent).map(([name, value]) => `${name}: ${String(value)}`);
  forwarded.write(`${method} ${url} HTTP/1.1\r\n${lines.join("\r\n")}\r\n\r\n`);
  forwarded.write(head);
  forwarded.pipe(socket).pipe(forwarded);
  for (const [first, second] of [
    [forwarded, socket],
    [socket, forwarded],
  ] as const) {
    first.on("error", () => second.destroy());
    first.on("close", () => second.destroy());
  }
}
