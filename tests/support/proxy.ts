// A reverse proxy: adds headers to every request and WebSocket, or serves the server below a path of a shared host.
import { once } from "node:events";
import { createServer, type IncomingMessage, request as sendRequest } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { type Duplex } from "node:stream";

type ProxyOptions = {
  headers?: Record<string, string>;
  /** Other paths return 404. `isStripped`: the proxy removes the path. */
  path?: { name: string; isStripped: boolean };
};

/**
 * `getTarget` is called per request, since a server may need the proxy's address before it has its own. Returns `host`, where the proxy listens, and
 * `otherRequests`, the requests outside the path.
 */
export async function startProxy(getTarget: () => string, { headers = {}, path }: ProxyOptions) {
  const resolveTarget = (request: IncomingMessage) => {
    const { hostname, port, host } = new URL(getTarget());
    // Below a path, browsers use the proxy's own address, so the server must get that host.
    return {
      hostname,
      port,
      url: toTargetUrl(request.url ?? "/"),
      forwardedHeaders: { ...request.headers, ...(!path && { host }), ...headers },
    };
  };
  const toTargetUrl = (url: string) => {
    if (!path) return url;
    const rest = url.startsWith(path.name) ? url.slice(path.name.length) : undefined;
    if (rest === undefined || !/^([/?]|$)/.test(rest)) return undefined;
    return path.isStripped ? `/${rest.replace(/^\//, "")}` : url;
  };
  const otherRequests: string[] = [];
  const server = createServer((request, response) => {
    const { hostname, port, url, forwardedHeaders } = resolveTarget(request);
    if (url === undefined) {
      otherRequests.push(request.url ?? "");
      return void response.writeHead(404).end("the other product");
    }
    const forwarded = sendRequest({ hostname, port, method: request.method, path: url, headers: forwardedHeaders });
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
    const { hostname, port, url, forwardedHeaders } = resolveTarget(request);
    if (url === undefined) return void socket.destroy();
    forwardUpgrade(request, socket, head, { hostname, port, url, headers: forwardedHeaders });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port: ownPort } = server.address() as AddressInfo;
  return {
    host: `127.0.0.1:${ownPort}`,
    otherRequests,
    stop() {
      server.closeAllConnections();
      server.close();
    },
  };
}

type UpgradeTarget = { hostname: string; port: string; url: string; headers: Record<string, unknown> };

/** Pipes upgraded connections in both directions until one side ends. */
export function forwardUpgrade(
  { method }: IncomingMessage,
  socket: Duplex,
  head: Buffer,
  { hostname, port, url, headers }: UpgradeTarget,
): void {
  const forwarded = connect(Number(port), hostname);
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${String(value)}`);
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
