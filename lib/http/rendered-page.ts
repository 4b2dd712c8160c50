// Renders a page into memory instead of into a socket, so that a slow client only holds its own copy.
import { randomUUID } from "node:crypto";
import { IncomingMessage, type OutgoingHttpHeaders, ServerResponse } from "node:http";
import { Socket } from "node:net";
import { promisify } from "node:util";
import { gzip } from "node:zlib";

export type Render = (request: IncomingMessage, response: ServerResponse) => Promise<void>;
export type RenderedPage = { status: number; headers: OutgoingHttpHeaders; body: Buffer };

const pack = promisify(gzip);
const MIN_PACKED_BYTES = 1000;
/** Hop-by-hop headers, and headers that would let a browser cache a page whose nonce changes. */
const ownHeaders = ["connection", "content-encoding", "content-length", "date", "etag", "keep-alive", "transfer-encoding", "vary"];

/** Sends a GET of `url` with only these headers. */
export async function renderPage(render: Render, url: string, headers: IncomingMessage["headers"]): Promise<RenderedPage> {
  const request = new IncomingMessage(new Socket());
  Object.assign(request, { method: "GET", url, headers, complete: true });
  request.push(null);
  const response = new MemoryResponse(request);
  await Promise.race([render(request, response), response.ended]);
  await response.ended;
  const pageHeaders = Object.entries(response.getHeaders()).filter(([name]) => !ownHeaders.includes(name));
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

  override end(...given: unknown[]): this {
    if (typeof given[0] === "string" || given[0] instanceof Uint8Array) this.write(given[0]);
    else if (!this.headersSent) this.flushHeaders();
    invokeCallback(given);
    this.emit("finish");
    this.emit("close");
    this.finish();
    return this;
  }
}

/** Stream methods accept a callback as their last argument. Node calls it once the bytes are written. */
function invokeCallback(given: readonly unknown[]): void {
  const last = given.at(-1);
  if (typeof last === "function") process.nextTick(() => Reflect.apply(last, undefined, []));
}

const NONCE = /'nonce-([\w+/=-]+)'/;

/** A page for many visitors: each visitor gets a separate nonce, in the policy and in the page. */
export type SharedPage = (request: IncomingMessage, response: ServerResponse) => Promise<void>;

export function sharePage({ status, headers, body }: RenderedPage): SharedPage {
  const policy = String(headers["content-security-policy"] ?? "");
  const nonce = NONCE.exec(policy)?.[1];
  const parts = nonce === undefined ? [body.toString()] : body.toString().split(nonce);
  return async (request, response) => {
    const fresh = Buffer.from(randomUUID()).toString("base64");
    const own = nonce === undefined ? headers : { ...headers, "content-security-policy": policy.replaceAll(nonce, fresh) };
    await sendPage(request, response, { status, headers: own, body: Buffer.from(parts.join(fresh)) });
  };
}

export async function sendPage(
  { method, headers: asked }: IncomingMessage,
  response: ServerResponse,
  { status, headers, body }: RenderedPage,
): Promise<void> {
  const isPacked = body.length >= MIN_PACKED_BYTES && /\bgzip\b/.test(String(asked["accept-encoding"] ?? ""));
  const bytes = isPacked ? await pack(body) : body;
  for (const [name, value] of Object.entries(headers)) if (value !== undefined) response.setHeader(name, value);
  response.setHeader("vary", "accept-encoding, cookie, accept-language");
  response.setHeader("content-length", bytes.length);
  if (isPacked) response.setHeader("content-encoding", "gzip");
  response.writeHead(status).end(method === "HEAD" ? undefined : bytes);
}
