import { createServer, type IncomingMessage, type Server, ServerResponse } from "node:http";
import { type Socket } from "node:net";
import { type Duplex, type Readable } from "node:stream";
import { asObject } from "@/lib/contract/json/json";
import { LENGTH_HEADER } from "@/lib/shared/headers";
import { getNetwork } from "@/lib/shared/ip-address";
import { getTelemetry } from "@/lib/shared/telemetry";
import { DEFAULT_HEADERS, handleInvalidRequests, sendErrorResponse } from "./error-responses";
import { handleUpgrades, type UpgradeHandler } from "./event-sockets";
import { checkRequest, removeBasePath, type RequestRules } from "./request-line";
import { type NameRequest } from "./routes";

type ConnectionBounds = {
  total: number;
  /** The limit for one IPv4 address or one IPv6 /64. */
  perAddress: number;
  isProxy?: (address: string) => boolean;
  stallMs: number;
};

/** Browsers send one request after another. Clients that pipeline more requests may be trying to exhaust memory. */
const MAX_WAITING_REQUESTS = 16;
const MAX_CONNECTIONS = 8192;
const DEFAULT_DESCRIPTORS = 1024;

/** The remaining descriptors are for files, databases and services, which requests in progress may need. */
function getConnectionLimits(): { total: number; perAddress: number } {
  const maxTotal = Math.min(MAX_CONNECTIONS, Math.floor(getDescriptorLimit() * 0.4));
  return { total: maxTotal, perAddress: Math.floor(maxTotal / 4) };
}

function getDescriptorLimit(): number {
  const { soft } = asObject(asObject(asObject(process.report?.getReport())?.userLimits)?.open_files) ?? {};
  return typeof soft === "number" ? soft : Number(soft) || DEFAULT_DESCRIPTORS;
}

type Handle = (request: IncomingMessage, response: ServerResponse) => void;

function limitConnections(server: Server, bounds: ConnectionBounds) {
  const openSockets = new Set<Socket>();
  const countByNetwork = new Map<string, number>();
  const queuesBySocket = new Map<Duplex, (() => void)[]>();

  server.maxConnections = bounds.total;
  server.prependListener("connection", (socket) => {
    if (openSockets.has(socket)) return;
    const network = getNetwork(socket.remoteAddress ?? "");
    const count = countByNetwork.get(network) ?? 0;
    if (count >= bounds.perAddress && !bounds.isProxy?.(socket.remoteAddress ?? "")) return void socket.destroy();
    openSockets.add(socket);
    countByNetwork.set(network, count + 1);
    socket.once("close", () => {
      openSockets.delete(socket);
      queuesBySocket.delete(socket);
      const remainingCount = (countByNetwork.get(network) ?? 1) - 1;
      if (remainingCount > 0) countByNetwork.set(network, remainingCount);
      else countByNetwork.delete(network);
    });
  });

  // After a timeout, closes the connection if the client doesn't read its response or no request is in progress.
  server.setTimeout(bounds.stallMs, (socket) => {
    if (socket.writableLength > 0 || !queuesBySocket.has(socket)) socket.destroy();
  });

  return {
    /** Handles pipelined requests one at a time. Node emits them all at once, and their responses would accumulate. */
    serializeRequests(handle: Handle): Handle {
      return (request, response) => {
        const { socket } = request;
        if (socket.destroyed) return;
        const start = () => {
          if (socket.destroyed) return;
          response.once("close", () => {
            const startNext = queuesBySocket.get(socket)?.shift();
            if (startNext) startNext();
            else queuesBySocket.delete(socket);
          });
          handle(request, response);
        };
        const queue = queuesBySocket.get(socket);
        if (!queue) {
          queuesBySocket.set(socket, []);
          start();
        } else if (queue.length < MAX_WAITING_REQUESTS) queue.push(start);
        else socket.destroy();
      };
    },
    isBusy: (socket: Duplex) => queuesBySocket.has(socket),
    destroyAll: () => openSockets.forEach((socket) => socket.destroy()),
  };
}

type Observe = (request: IncomingMessage, response: ServerResponse, handle: () => void) => void;
/** The status that proxies log for a client that disconnected before the response. */
const CLIENT_CLOSED_STATUS = 499;

function createRequestObserver(nameRequest: NameRequest | undefined): Observe {
  const { metrics, traces } = getTelemetry();
  if (!nameRequest || (!metrics && !traces)) return (_request, _response, handle) => handle();
  let activeRequests = 0;
  metrics?.registerGauge("lightdesk_http_requests_in_progress", () => activeRequests);
  return (request, response, handle) => {
    const { method, route } = nameRequest(request);
    const startedMs = performance.now();
    const { traceparent } = request.headers;
    const span = traces?.startSpan(`${method} ${route}`, {
      kind: "incoming",
      parent: typeof traceparent === "string" ? traceparent : null,
      attributes: { "http.request.method": method, "http.route": route },
    });
    activeRequests += 1;
    response.once("close", () => {
      activeRequests -= 1;
      const status = response.headersSent ? response.statusCode : CLIENT_CLOSED_STATUS;
      metrics?.count("lightdesk_http_requests_total", { method, route, status: String(status) });
      metrics?.observe("lightdesk_http_request_duration_seconds", { route }, (performance.now() - startedMs) / 1000);
      span?.end({ "http.response.status_code": status }, status < 500);
    });
    return span ? span.run(handle) : handle();
  };
}

const MAX_BODY_WAIT_MS = 5000;

export class HttpResponse<Request extends IncomingMessage = IncomingMessage> extends ServerResponse<Request> {
  /** Next drops the content length but copies this header, as a list. */
  override setHeader(name: string, value: number | string | readonly string[]): this {
    return name === LENGTH_HEADER ? super.setHeader("content-length", String(value)) : super.setHeader(name, value);
  }

  /** Next calls this directly before the first chunk of the body. Deferring the flush sends both in one packet. */
  override flushHeaders(): void {
    process.nextTick(() => {
      if (!this.headersSent && !this.destroyed) super.flushHeaders();
    });
  }

  override end(...args: unknown[]): this {
    const { req, socket } = this;
    const end = (...rest: unknown[]): this => Reflect.apply(super.end, this, rest);
    if (this.writableEnded || req.complete || !socket || socket.destroyed) return end(...args);
    // Applies to keep-alive connections too, which an endless body would hold forever.
    const timer = setTimeout(() => end() && socket.destroy(), MAX_BODY_WAIT_MS).unref();
    req.once("end", () => clearTimeout(timer));
    // Node closes the connection directly after its last response. If the length is known, the client doesn't need the end, so it can wait.
    if (!this.isLast() || !this.hasHeader("content-length")) return end(...args);
    const [body] = args;
    if (typeof body === "string" || body instanceof Uint8Array) this.write(body);
    else super.flushHeaders();
    socket.end();
    req.once("end", () => end());
    req.resume();
    return this;
  }

  private isLast(): boolean {
    if (!this.shouldKeepAlive) return true;
    return [this.getHeader("connection"), this.req.headers.connection].some((value) => /\bclose\b/i.test(String(value)));
  }
}

/** Delays "100 Continue", so that unauthorized clients and oversized bodies are rejected before the body is sent. */
function delayContinue(server: Server): void {
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

type HttpOptions = RequestRules & {
  headersTimeoutMs: number;
  isProxy?: (address: string) => boolean;
  connectionsPerAddress?: number;
  /** Part of every URL unless a proxy removes it. It is removed before a request is checked, handled or upgraded. */
  basePath?: string;
  upgrades?: Readonly<Record<string, UpgradeHandler>>;
  nameRequest?: NameRequest;
};

export type HttpServer = ReturnType<typeof createHttpServer>;

const CHECK_INTERVAL_MS = 5000;
/** Longer than typical polling intervals, because a request fails if its connection is closed meanwhile. */
const IDLE_TIMEOUT_MS = 15_000;
const PROXY_IDLE_TIMEOUT_MS = 75_000;

export function createHttpServer(options: HttpOptions, handle: (request: IncomingMessage, response: ServerResponse) => void) {
  const { headersTimeoutMs, isProxy, upgrades = {}, basePath = "" } = options;
  const connectionsCheckingInterval = Math.min(CHECK_INTERVAL_MS, headersTimeoutMs / 4);
  const server = createServer({ connectionsCheckingInterval, requireHostHeader: false, ServerResponse: HttpResponse });
  // Uploads may take hours. The code that reads a body rejects one that pauses too long.
  server.requestTimeout = 0;
  server.headersTimeout = headersTimeoutMs;
  server.keepAliveTimeout = IDLE_TIMEOUT_MS;
  const { total, perAddress } = getConnectionLimits();
  // A client that is slow with its headers gets an error before the connection counts as idle.
  const stallMs = headersTimeoutMs + 2 * connectionsCheckingInterval;
  const bounds = { total, perAddress: options.connectionsPerAddress ?? perAddress, isProxy, stallMs };
  const connections = limitConnections(server, bounds);
  delayContinue(server);
  handleInvalidRequests(server, connections.isBusy);
  handleUpgrades(server, upgrades, (request) => {
    removeBasePath(request, basePath);
    return checkRequest(request, options);
  });

  const observe = createRequestObserver(options.nameRequest);
  const respond = connections.serializeRequests((request, response) => {
    for (const [name, value] of Object.entries(DEFAULT_HEADERS)) response.setHeader(name, value);
    const { socket } = request;
    // Overrides the keep-alive timeout that Node sets before `close`.
    if (isProxy?.(socket.remoteAddress ?? "")) response.once("close", () => socket.setTimeout(PROXY_IDLE_TIMEOUT_MS));
    removeBasePath(request, basePath);
    observe(request, response, () => handleAllowed(request, response));
  });
  const handleAllowed: typeof handle = (request, response) => {
    const errorResponse = checkRequest(request, options);
    if (errorResponse) return sendErrorResponse(request, response, errorResponse);
    if (request.method === "OPTIONS") {
      const { url = "" } = request;
      if (url === "*") return void response.writeHead(204, { allow: "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS" }).end();
      if (options.isPage(url.split(/[?#]/)[0] ?? "")) return void response.writeHead(204, { allow: "GET, HEAD, OPTIONS" }).end();
    }
    handle(request, response);
  };
  server.on("request", respond);

  return {
    listen: (port: number, host: string) => listen(server, port, host),
    close: (graceMs: number) => close(server, graceMs, connections.destroyAll),
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
    // Otherwise, a connection that becomes idle after its last response would remain open for seconds.
    const sweepTimer = setInterval(() => server.closeIdleConnections(), 50);
    const forceTimer = setTimeout(destroyAll, graceMs);
    server.close(() => {
      clearInterval(sweepTimer);
      clearTimeout(forceTimer);
      resolve();
    });
  });
}

/** Also handles signals during startup. Exits with code 1 if `stop` fails or hangs. */
export function stopOnSignals(stop: () => Promise<void>, timeoutMs: number): void {
  let isStopping = false;
  const fail = (message: string) => {
    process.stderr.write(`${message}\n`);
    process.exit(1);
  };
  const stopOnce = () => {
    if (isStopping) return;
    isStopping = true;
    setTimeout(() => fail(`The shutdown took longer than ${timeoutMs / 1000} s.`), timeoutMs).unref();
    stop().then(
      () => process.exit(0),
      (error: unknown) => fail(error instanceof Error ? error.message : String(error)),
    );
  };
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, stopOnce);
}

// Reads a request's bytes from the socket, without a web stream, which copies each chunk. Buffers at most a mebibyte.

const MAX_BUFFERED_BYTES = 1024 * 1024;

export function readIncomingBody(incoming: Readable, outgoing: Pick<ServerResponse, "headersSent">): AsyncIterable<Uint8Array> {
  return { [Symbol.asyncIterator]: () => createBodyIterator(incoming, outgoing) };
}

function createBodyIterator(incoming: Readable, outgoing: Pick<ServerResponse, "headersSent">): AsyncIterator<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let bufferedBytes = 0;
  let endState: { error?: Error } | undefined;
  let wake: () => void = () => undefined;

  const onData = (chunk: Uint8Array) => {
    if (outgoing.headersSent) return;
    chunks.push(chunk);
    bufferedBytes += chunk.byteLength;
    if (bufferedBytes >= MAX_BUFFERED_BYTES) incoming.pause();
    wake();
  };
  const finish = (error?: Error) => {
    incoming.off("data", onData);
    endState ??= error ? { error } : {};
    wake();
  };
  incoming.on("data", onData);
  incoming.once("end", () => finish());
  incoming.once("error", finish);
  incoming.once("close", () =>
    finish(incoming.readableEnded ? undefined : new Error("The connection was closed before the end of the body.")),
  );

  return {
    async next() {
      while (chunks.length === 0 && !endState) await new Promise<void>((resolve) => (wake = resolve));
      const value = chunks.shift();
      if (value === undefined) {
        if (endState?.error) throw endState.error;
        return { done: true, value: undefined };
      }
      bufferedBytes -= value.byteLength;
      if (bufferedBytes < MAX_BUFFERED_BYTES / 2 && incoming.isPaused() && !endState) incoming.resume();
      return { done: false, value };
    },
  };
}
