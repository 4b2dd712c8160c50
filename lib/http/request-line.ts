import { AsyncLocalStorage } from "node:async_hooks";
import { type IncomingMessage } from "node:http";
import { decodePercent } from "@/lib/contract/plain-line";
import { EMBED_PATH_HEADER, embedAddressOf, setEmbedPaths } from "@/lib/shared/console-paths";
import { type Refused } from "@/lib/shared/http-types";
import { isInNetworks, networks } from "@/lib/shared/ip-address";

function withoutBasePath(url: string, basePath: string): string {
  if (basePath === "" || !url.startsWith(basePath)) return url;
  const rest = url.slice(basePath.length);
  if (rest === "" || rest.startsWith("?") || rest.startsWith("#")) return `/${rest}`;
  return rest.startsWith("/") ? rest : url;
}

const basePaths = new WeakMap<IncomingMessage, string>();

/** Removes the base path from the request's address. `pageAddress` puts it in front of addresses that the answer names. */
export function removeBasePath(request: IncomingMessage, basePath: string): void {
  request.url = withoutBasePath(request.url ?? "", basePath);
  basePaths.set(request, basePath);
}

export function pageAddress(request: IncomingMessage, path: string): string {
  return withBasePath(path, basePaths.get(request) ?? "");
}

/** For Next, which wants the base path in every address, without a slash after it: otherwise Next and some proxies would redirect. */
export function withBasePath(url: string, basePath: string): string {
  return basePath !== "" && /^\/([?#]|$)/.test(url) ? basePath + url.slice(1) : basePath + url;
}

const PREFIX = /^\/api\/userdata\//i;
const dots = /^(\.|%2e){1,2}$/i;

/** Encodes dots that mean folders, and backslashes, once more: no parser resolves them, and their reader refuses them. */
export function escapeDots(url: string): string {
  if (!PREFIX.test(url)) return url;
  const end = url.search(/[?#]/);
  const path = end < 0 ? url : url.slice(0, end);
  const escapedPath = path
    .replaceAll("\\", "%5C")
    .split("/")
    .map((segment) => (dots.test(segment) ? segment.replace(/\.|%2e/gi, "%252E") : segment));
  return escapedPath.join("/") + (end < 0 ? "" : url.slice(end));
}

export function createEmbedPaths(): { answerAt<T>(request: IncomingMessage, answer: () => T): T } {
  const paths = new AsyncLocalStorage<string>();
  setEmbedPaths(paths);
  return {
    answerAt(request, answer) {
      delete request.headers[EMBED_PATH_HEADER];
      const embedAddress = embedAddressAt(request.url ?? "");
      if (!embedAddress) return answer();
      request.headers[EMBED_PATH_HEADER] = embedAddress.path;
      // Not left to Next's own proxy, which cuts off the body of an upload. For pages it rewrites the address (proxy.ts).
      if (/^\/(api|samples)(?=[/?]|$)/.test(embedAddress.rest)) request.url = embedAddress.rest;
      return paths.run(embedAddress.path, answer);
    },
  };
}

export function isApi(path: string): boolean {
  return /^\/api(\/|$)/.test(routeAddress(path));
}

/** The address that routes are matched with: without the path of an embedded session. */
export function routeAddress(address: string): string {
  return embedAddressAt(address)?.rest ?? address;
}

/** The base path is removed already: later in an address, the same text may be the name of a file. */
function embedAddressAt(address: string): ReturnType<typeof embedAddressOf> {
  const embedAddress = embedAddressOf(address);
  return embedAddress && address.startsWith(embedAddress.path) ? embedAddress : undefined;
}

export type RequestRules = {
  hosts: readonly string[] | undefined;
  isPage: (path: string) => boolean;
};

const hostText = /^(\[[\da-f:.]+\]|[\w.~%!$&'()*+,;=-]+)(:\d{1,5})?$/i;
const loopback = networks("127.0.0.0/8", "::1/128");

export function hostsOf({ host, publicUrl }: { host: string; publicUrl?: string }): readonly string[] | undefined {
  if (!isThisMachine(host)) return undefined;
  return publicUrl === undefined ? [] : [new URL(publicUrl).hostname.toLowerCase()];
}

export function checkRequest(request: IncomingMessage, { hosts, isPage }: RequestRules): Refused | undefined {
  const { method = "", url = "" } = request;
  const hostProblem = checkHost(request, hosts);
  if (hostProblem) return hostProblem;
  if (url === "*" && method === "OPTIONS") return undefined;
  if (!url.startsWith("/")) return badRequest("The request line must contain a path, such as /api/health.");
  if (method === "TRACE") return notAllowed("TRACE is not supported.");
  if (isPage(url.split(/[?#]/)[0] ?? "") && method !== "GET" && method !== "HEAD" && method !== "OPTIONS")
    return { ...notAllowed("Pages allow only GET and HEAD."), headers: { allow: "GET, HEAD" } };
  return undefined;
}

/** Refuses an address whose path cannot be decoded; Next would report a fault of its own. */
export function checkEncoding({ url = "" }: IncomingMessage): Refused | undefined {
  if (decodePercent(url.split(/[?#]/)[0] ?? "") !== undefined) return undefined;
  return badRequest("The URL is not percent-encoded correctly: it may have been cut off or changed.");
}

function checkHost(request: IncomingMessage, hosts: readonly string[] | undefined): Refused | undefined {
  const hostCount = request.rawHeaders.filter((name, at) => at % 2 === 0 && name.toLowerCase() === "host").length;
  // HTTP/1.0 may leave it out; it then means the address that the request was sent to.
  if (hostCount === 0 && request.httpVersion === "1.0") {
    request.headers.host = addressOf(request);
    return undefined;
  }
  const { host = "" } = request.headers;
  if (hostCount !== 1) return badRequest(`Host: the header ${hostCount === 0 ? "is missing" : "is given more than once"}.`);
  if (!hostText.test(host) || !URL.canParse(`http://${host}`)) return badRequest("Host: the header names no host.");
  const { hostname } = new URL(`http://${host}`);
  if (hosts === undefined || isThisMachine(hostname) || hosts.includes(hostname)) return undefined;
  const message = "Host: unknown host name. To open the console under this name, set LIGHTDESK_PUBLIC_URL.";
  return { status: 421, code: "MISDIRECTED_REQUEST", message };
}

function isThisMachine(host: string): boolean {
  const name = host.replace(/^\[|\]$/g, "").toLowerCase();
  return name === "localhost" || name.endsWith(".localhost") || isInNetworks(name, loopback);
}

function badRequest(message: string): Refused {
  return { status: 400, code: "BAD_REQUEST", message };
}

function notAllowed(message: string): Refused {
  return { status: 405, code: "METHOD_NOT_ALLOWED", message };
}

function addressOf({ socket: { localAddress = "127.0.0.1", localPort } }: IncomingMessage): string {
  const address = localAddress.replace(/^::ffff:/, "");
  return `${address.includes(":") ? `[${address}]` : address}:${localPort}`;
}
