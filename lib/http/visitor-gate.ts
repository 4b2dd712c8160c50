// Serves visitors without a session from a cache of rendered pages.

import { randomUUID } from "node:crypto";
import { IncomingMessage, type OutgoingHttpHeaders, ServerResponse } from "node:http";
import { Socket } from "node:net";
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import { createLimiter } from "@/lib/shared/async";
import { acceptsEncoding } from "@/lib/shared/headers";
import { type ErrorResponse, type VisitorRules } from "@/lib/shared/http-types";
import { createLru } from "@/lib/shared/lru";
import { sendErrorResponse } from "./error-responses";
import { toPageUrl } from "./request-line";

type Render = (request: IncomingMessage, response: ServerResponse) => Promise<void>;
type RenderedPage = { status: number; headers: OutgoingHttpHeaders; body: Buffer };

const compress = promisify(gzip);
const MIN_COMPRESSED_BYTES = 1000;
/** Hop-by-hop headers, and headers that would let a browser cache a page although its nonce changes. */
const removedHeaders = ["connection", "content-encoding", "content-length", "date", "etag", "keep-alive", "transfer-encoding", "vary"];

async function renderPage(render: Render, url: string, headers: IncomingMessage["headers"]): Promise<RenderedPage> {
  const request = new IncomingMessage(new Socket());
  Object.assign(request, { method: "GET", url, headers, complete: true });
  request.push(null);
  const response = new MemoryResponse(request);
  await Promise.race([render(request, response), response.ended]);
  await response.ended;
  const pageHeaders = Object.entries(response.getHeaders()).filter(([name]) => !removedHeaders.includes(name));
  return { status: response.statusCode, headers: Object.fromEntries(pageHeaders), body: Buffer.concat(response.chunks) };
}

class MemoryResponse extends ServerResponse {
  readonly chunks: Buffer[] = [];
  private finish: () => void = () => undefined;
  readonly ended = new Promise<void>((resolve) => (this.finish = resolve));

  override write(chunk: unknown, ...rest: unknown[]): boolean {
    if (!this.headersSent) this.flushHeaders();
    if (typeof chunk === "string") this.chunks.push(Buffer.from(chunk));
    else if (chunk instanceof Uint8Array) this.chunks.push(Buffer.from(chunk));
    invokeCallback(rest);
    return true;
  }

  override end(...args: unknown[]): this {
    if (typeof args[0] === "string" || args[0] instanceof Uint8Array) this.write(args[0]);
    else if (!this.headersSent) this.flushHeaders();
    invokeCallback(args);
    this.emit("finish");
    this.emit("close");
    this.finish();
    return this;
  }
}

/** Stream methods accept a callback as their last argument, which Node calls once the bytes are written. */
function invokeCallback(args: readonly unknown[]): void {
  const callback = args.at(-1);
  if (typeof callback === "function") process.nextTick(() => Reflect.apply(callback, undefined, []));
}

const NONCE = /'nonce-([\w+/=-]+)'/;

type SharedPage = (request: IncomingMessage, response: ServerResponse) => Promise<void>;

function createSharedPage({ status, headers, body }: RenderedPage): SharedPage {
  const policy = String(headers["content-security-policy"] ?? "");
  const nonce = NONCE.exec(policy)?.[1];
  const segments = nonce === undefined ? [body.toString()] : body.toString().split(nonce);
  return async (request, response) => {
    const newNonce = Buffer.from(randomUUID()).toString("base64");
    const pageHeaders = nonce === undefined ? headers : { ...headers, "content-security-policy": policy.replaceAll(nonce, newNonce) };
    await sendPage(request, response, { status, headers: pageHeaders, body: Buffer.from(segments.join(newNonce)) });
  };
}

async function sendPage(
  { method, headers: requestHeaders }: IncomingMessage,
  response: ServerResponse,
  { status, headers, body }: RenderedPage,
): Promise<void> {
  const isCompressed = body.length >= MIN_COMPRESSED_BYTES && acceptsEncoding(requestHeaders, "gzip");
  const bytes = isCompressed ? await compress(body) : body;
  for (const [name, value] of Object.entries(headers)) if (value !== undefined) response.setHeader(name, value);
  response.setHeader("vary", "accept-encoding, cookie, accept-language");
  response.setHeader("content-length", bytes.length);
  if (isCompressed) response.setHeader("content-encoding", "gzip");
  response.writeHead(status).end(method === "HEAD" ? undefined : bytes);
}

type Options = {
  rules: () => VisitorRules | undefined;
  render: Render;
  limit: {
    take(request: IncomingMessage): Promise<number>;
    refund(request: IncomingMessage): Promise<void>;
  };
  now?: () => number;
};

const MAX_RENDERS = 2;
const MAX_WAITING_RENDERS = 64;
const MAX_PAGES = 200;
const PAGE_TTL_MS = 5 * 60_000;
const HEALTH_TTL_MS = 1000;
const RETRY_SECONDS = 1;
const uncountedCalls = /^\/api\/(console\/session|embed\/check)(?=[/?#]|$)/;

const rateLimitError: ErrorResponse = {
  status: 429,
  code: "RATE_LIMITED",
  message: "Too many requests without a sign-in. Try again in a moment.",
};
const overloadError: ErrorResponse = {
  ...{ status: 503, code: "SERVICE_UNAVAILABLE", message: "Too many visitors at once. Try again in a moment." },
  headers: { "retry-after": String(RETRY_SECONDS) },
};

type Page = { at: number; page: Promise<SharedPage | undefined> };

export function createVisitorGate({ rules, render, limit, now = Date.now }: Options) {
  const pages = createLru<string, Page>({ max: MAX_PAGES });
  const limitRenders = createLimiter(MAX_RENDERS);
  let activeRenders = 0;
  let health: { at: number; page: Promise<SharedPage> } | undefined;

  async function renderLimited<T>(work: () => Promise<T>): Promise<T | undefined> {
    if (activeRenders >= MAX_RENDERS + MAX_WAITING_RENDERS) return undefined;
    activeRenders += 1;
    try {
      return await limitRenders(work);
    } finally {
      activeRenders -= 1;
    }
  }

  function findSharedPage(name: string, url: string, language: string): Promise<SharedPage | undefined> {
    const cachedPage = pages.get(name);
    if (cachedPage && now() - cachedPage.at < PAGE_TTL_MS) return cachedPage.page;
    // Send only known values, so that one visitor's request can't affect other visitors' pages.
    const headers = { host: "localhost", "accept-language": language, accept: "text/html" };
    const page = renderLimited(async () => {
      const renderedPage = await renderPage(render, url, headers);
      if (renderedPage.status >= 500) removePage();
      return createSharedPage(renderedPage);
    });
    pages.set(name, { at: now(), page });
    const removePage = () => void (pages.get(name)?.page === page && pages.delete(name));
    page.then((loadedPage) => loadedPage ?? removePage(), removePage);
    return page;
  }

  function sendRateLimited(request: IncomingMessage, response: ServerResponse, waitMs: number): void {
    sendErrorResponse(request, response, { ...rateLimitError, headers: { "retry-after": String(Math.ceil(waitMs / 1000)) } });
  }

  async function serveVisitor(request: IncomingMessage, response: ServerResponse): Promise<boolean> {
    const visitorRules = rules();
    if (!visitorRules) return false;
    const isMember = await visitorRules.isMember(request);
    // Share pages are the same for members, and their visits are counted here.
    if (isMember && !request.url?.startsWith("/share/")) return false;
    const sendError = (error: ErrorResponse) => sendErrorResponse(request, response, error);
    const waitMs = isMember ? 0 : await limit.take(request);
    if (waitMs > 0) sendRateLimited(request, response, waitMs);
    else {
      const visitorResponse = await visitorRules.getResponse(request);
      if (response.destroyed) return true;
      if (visitorResponse.kind === "refused") sendError(visitorResponse.error);
      else if (visitorResponse.kind === "redirect")
        response
          .writeHead(307, { location: toPageUrl(request, visitorResponse.location), "cache-control": "no-store", "content-length": 0 })
          .end();
      else if (visitorResponse.kind === "shared") {
        const page = await findSharedPage(
          `${visitorResponse.language} ${visitorResponse.key}`,
          visitorResponse.url,
          visitorResponse.language,
        );
        if (page) await page(request, response);
        else sendError(overloadError);
      } else if (request.method !== "GET" && request.method !== "HEAD") return false;
      else {
        const { "accept-encoding": _encoding, rsc: _rsc, ...headers } = request.headers;
        const page = await renderLimited(async () => (response.destroyed ? undefined : renderPage(render, request.url ?? "/", headers)));
        if (page) await sendPage(request, response, page);
        else if (!response.destroyed) sendError(overloadError);
      }
    }
    return true;
  }

  /** Limits all other calls. Without a session, failed and public calls count. Resolves with false if it rejected the call. */
  async function admitCall(request: IncomingMessage, response: ServerResponse): Promise<boolean> {
    const waitMs = await limit.take(request);
    const isMember = async () => (await rules()?.isMember(request)) ?? false;
    if (waitMs === 0) {
      const refundCall = async () => {
        const { statusCode } = response;
        const isUncounted = statusCode < 400 && !uncountedCalls.test(request.url ?? "");
        if (isUncounted || (statusCode !== 401 && (await isMember().catch(() => true)))) await limit.refund(request);
      };
      response.once("close", () => void refundCall());
      return true;
    }
    if (await isMember()) return true;
    sendRateLimited(request, response, waitMs);
    return false;
  }

  /** Monitors have no limit, so all of them share one check per second. */
  async function serveHealth(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (!health || now() - health.at >= HEALTH_TTL_MS) {
      const page = renderPage(render, "/api/health", { host: "localhost", accept: "application/json" }).then(createSharedPage);
      const check = { at: now(), page };
      health = check;
      page.catch(() => void (health === check && (health = undefined)));
    }
    const send = await health.page;
    await send(request, response);
  }

  return { serveVisitor, admitCall, serveHealth };
}
