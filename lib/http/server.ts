// The HTTP server of either command: what it limits, checks and refuses before any route, and how it stops.
// Guarantees: every answer carries a content policy; a stop takes no new connection, lets requests in flight end within the grace, and then
// leaves no socket, whatever a client does.
// Must never: know a route.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { withoutBasePath } from "./base-path";
import { boundConnections, shareDescriptors } from "./connections";
import { createRequestObserver } from "./observed-requests";
import { ANSWER_HEADERS, refuse, refuseUnparsed } from "./refusals";
import { judgeRequest, type RequestRules } from "./request-line";
import { type NameRequest } from "./route-methods";
import { Answer, continueLate } from "./unread-bodies";
import { handleUpgrades, type UpgradeHandler } from "./upgrades";

export type HttpOptions = RequestRules & {
  /** How long headers may take, and how long an answer may stay unread. */
  patienceMs: number;
  /** True for a proxy that all people come through: it has no limit of its own. */
  isProxy?: (address: string) => boolean;
  /** Replaces the usual limit, a quarter of all connections. */
  connectionsPerAddress?: number;
  /** Part of every address, unless a proxy removes it; it is removed before a request is judged, handled or upgraded. */
  basePath?: string;
  /** WebSockets by their path. */
  upgrades?: Readonly<Record<string, UpgradeHandler>>;
  /** Names a request for metrics and traces; without it they record none. */
  nameOf?: NameRequest;
};

export type HttpServer = {
  /** Resolves with the port. */
  listen(port: number, host: string): Promise<number>;
  close(graceMs: number): Promise<void>;
};

const CHECK_EVERY_MS = 5000;

export function createHttpServer(options: HttpOptions, handle: (request: IncomingMessage, response: ServerResponse) => void): HttpServer {
  const { patienceMs, isProxy, upgrades = {}, basePath = "" } = options;
  const connectionsCheckingInterval = Math.min(CHECK_EVERY_MS, patienceMs / 4);
  const server = createServer({ connectionsCheckingInterval, requireHostHeader: false, ServerResponse: Answer });
  // Uploads may take hours; the reader of a body ends one that pauses too long.
  server.requestTimeout = 0;
  server.headersTimeout = patienceMs;
  const { all, ofAddress } = shareDescriptors();
  // A client that is slow with its headers gets its refusal before the connection counts as idle.
  const stallMs = patienceMs + 2 * connectionsCheckingInterval;
  const bounds = { all, ofAddress: options.connectionsPerAddress ?? ofAddress, isProxy, stallMs };
  const connections = boundConnections(server, bounds);
  continueLate(server);
  refuseUnparsed(server, connections.isBusy);
  handleUpgrades(server, upgrades, (request) => judgeRequest(request, options), basePath);

  const observe = createRequestObserver(options.nameOf);
  const answer = connections.oneAtATime((request, response) => {
    for (const [name, value] of Object.entries(ANSWER_HEADERS)) response.setHeader(name, value);
    request.url = withoutBasePath(request.url ?? "", basePath);
    observe(request, response, () => judged(request, response));
  });
  const judged: typeof handle = (request, response) => {
    const refused = judgeRequest(request, options);
    if (refused) return refuse(request, response, refused, basePath);
    if (request.method === "OPTIONS") {
      const { url = "" } = request;
      if (url === "*") return void response.writeHead(204, { allow: "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS" }).end();
      if (options.isPage(url.split(/[?#]/)[0] ?? "")) return void response.writeHead(204, { allow: "GET, HEAD, OPTIONS" }).end();
    }
    handle(request, response);
  };
  server.on("request", answer);

  return {
    listen: (port, host) => listen(server, port, host),
    close: (graceMs) => close(server, graceMs, connections.destroyAll),
  };
}

function listen(server: Server, port: number, host: string): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, host, () => {
      server.off("error", reject);
      const address = server.address();
      resolve(typeof address === "object" && address !== null ? address.port : port);
    });
  });
}

function close(server: Server, graceMs: number, destroyAll: () => void): Promise<void> {
  return new Promise((resolve) => {
    // Otherwise a connection that becomes idle after its last answer would be kept for seconds.
    const sweep = setInterval(() => server.closeIdleConnections(), 50);
    const force = setTimeout(destroyAll, graceMs);
    server.close(() => {
      clearInterval(sweep);
      clearTimeout(force);
      resolve();
    });
  });
}

/** Works from the first moment: a Ctrl-C during the start ends it as cleanly as a later one. Ends with code 1 if `stop` fails or hangs. */
export function stopOnSignals(stop: () => Promise<void>, mostMs: number): void {
  let isStopping = false;
  const end = (message: string) => {
    process.stderr.write(`${message}\n`);
    process.exit(1);
  };
  const run = () => {
    if (isStopping) return;
    isStopping = true;
    setTimeout(() => end(`The stop did not come to its end in ${mostMs / 1000} s.`), mostMs).unref();
    stop().then(
      () => process.exit(0),
      (error: unknown) => end(error instanceof Error ? error.message : String(error)),
    );
  };
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, run);
}
