import { AsyncLocalStorage } from "node:async_hooks";
import { type IncomingMessage } from "node:http";
import { decodePercent } from "@/lib/contract/plain-line";
import { EMBED_PATH_HEADER, parseEmbedPath, setEmbedPaths } from "@/lib/shared/console-paths";
import { type Refused } from "@/lib/shared/http-types";
import { createBlockList, isInNetworks } from "@/lib/shared/ip-address";

function stripBasePath(url: string, basePath: string): string {
  if (basePath === "" || !url.startsWith(basePath)) return url;
  const rest = url.slice(basePath.length);
  if (rest === "" || rest.startsWith("?") || rest.startsWith("#")) return `/${rest}`;
  return rest.startsWith("/") ? rest : url;
}

const basePaths = new WeakMap<IncomingMessage, string>();

/** Removes the base path from the request's URL. `toPageUrl` adds it to URLs in the response. */
export function removeBasePath(request: IncomingMessage, basePath: string): void {
  request.url = stripBasePath(request.url ?? "", basePath);
  basePaths.set(request, basePath);
}

export function toPageUrl(request: IncomingMessage, path: string): string {
  return addBasePath(path, basePaths.get(request) ?? "");
}

/** For Next, which needs the base path in every URL, without a slash after it. Otherwise, Next and some proxies would redirect. */
export function addBasePath(url: string, basePath: string): string {
  return basePath !== "" && /^\/([?#]|$)/.test(url) ? basePath + url.slice(1) : basePath + url;
}

const USERDATA_PREFIX = /^\/api\/userdata\//i;
const dotsPattern = /^(\.|%2e){1,2}$/i;

/** Encodes dots that mean folders, and backslashes, a second time, so that no parser resolves them and the reader rejects them. */
export function escapeDots(url: string): string {
  if (!USERDATA_PREFIX.test(url)) return url;
  const end = url.search(/[?#]/);
  const path = end < 0 ? url : url.slice(0, end);
  const escapedPath = path
    .replaceAll("\\", "%5C")
    .split("/")
    .map((segment) => (dotsPattern.test(segment) ? segment.replace(/\.|%2e/gi, "%252E") : segment));
  return escapedPath.join("/") + (end < 0 ? "" : url.slice(end));
}

export function createEmbedPaths(): { answerAt<T>(request: IncomingMessage, answer: () => T): T } {
  const paths = new AsyncLocalStorage<string>();
  setEmbedPaths(paths);
  return {
    answerAt(request, answer) {
      delete request.headers[EMBED_PATH_HEADER];
      const embedUrl = parseEmbedUrl(request.url ?? "");
      if (!embedUrl) return answer();
      request.headers[EMBED_PATH_HEADER] = embedUrl.path;
      // Not left to Next's own proxy, which truncates uploads. For pages, it rewrites the URL (proxy.ts).
      if (/^\/(api|samples)(?=[/?]|$)/.test(embedUrl.rest)) request.url = embedUrl.rest;
      return paths.run(embedUrl.path, answer);
    },
  };
}

export function isApiPath(path: string): boolean {
  return /^\/api(\/|$)/.test(toRouteUrl(path));
}

/** The URL for matching routes, without the path of an embedded session. */
export function toRouteUrl(address: string): string {
  return parseEmbedUrl(address)?.rest ?? address;
}

/** The base path was already removed. Later in the URL, the same text may be the name of a file. */
function parseEmbedUrl(address: string): ReturnType<typeof parseEmbedPath> {
  const embedAddress = parseEmbedPath(address);
  return embedAddress && address.startsWith(embedAddress.path) ? embedAddress : undefined;
}

export type RequestRules = {
  hosts: readonly string[] | undefined;
  isPage: (path: string) => boolean;
};

const hostPattern = /^(\[[\da-f:.]+\]|[\w.~%!$&'()*+,;=-]+)(:\d{1,5})?$/i;
const loopback = createBlockList("127.0.0.0/8", "::1/128");

export function getHosts({ host, publicUrl }: { host: string; publicUrl?: string }): readonly string[] | undefined {
  if (!isLocalName(host)) return undefined;
  return publicUrl === undefined ? [] : [new URL(publicUrl).hostname.toLowerCase()];
}

export function checkRequest(request: IncomingMessage, { hosts, isPage }: RequestRules): Refused | undefined {
  const { method = "", url = "" } = request;
  const hostProblem = checkHost(request, hosts);
  if (hostProblem) return hostProblem;
  if (url === "*" && method === "OPTIONS") return undefined;
  if (!url.startsWith("/")) return createBadRequest("The request line must contain a path, such as /api/health.");
  if (method === "TRACE") return createNotAllowed("TRACE is not supported.");
  if (isPage(url.split(/[?#]/)[0] ?? "") && method !== "GET" && method !== "HEAD" && method !== "OPTIONS")
    return { ...createNotAllowed("Pages allow only GET and HEAD."), headers: { allow: "GET, HEAD" } };
  return undefined;
}

/** Rejects a URL whose path cannot be decoded, because Next would report its own error. */
export function checkEncoding({ url = "" }: IncomingMessage): Refused | undefined {
  if (decodePercent(url.split(/[?#]/)[0] ?? "") !== undefined) return undefined;
  return createBadRequest("The URL is not percent-encoded correctly: it may have been cut off or changed.");
}

function checkHost(request: IncomingMessage, hosts: readonly string[] | undefined): Refused | undefined {
  const hostCount = request.rawHeaders.filter((name, at) => at % 2 === 0 && name.toLowerCase() === "host").length;
  // HTTP/1.0 may omit it. The host is then the address that the request was sent to.
  if (hostCount === 0 && request.httpVersion === "1.0") {
    request.headers.host = getLocalAddress(request);
    return undefined;
  }
  const { host = "" } = request.headers;
  if (hostCount !== 1) return createBadRequest(`Host: the header ${hostCount === 0 ? "is missing" : "is given more than once"}.`);
  if (!hostPattern.test(host) || !URL.canParse(`http://${host}`)) return createBadRequest("Host: the header names no host.");
  const { hostname } = new URL(`http://${host}`);
  if (hosts === undefined || isLocalName(hostname) || hosts.includes(hostname)) return undefined;
  const message = "Host: unknown host name. To open the console under this name, set LIGHTDESK_PUBLIC_URL.";
  return { status: 421, code: "MISDIRECTED_REQUEST", message };
}

function isLocalName(host: string): boolean {
  const name = host.replace(/^\[|\]$/g, "").toLowerCase();
  return name === "localhost" || name.endsWith(".localhost") || isInNetworks(name, loopback);
}

function createBadRequest(message: string): Refused {
  return { status: 400, code: "BAD_REQUEST", message };
}

function createNotAllowed(message: string): Refused {
  return { status: 405, code: "METHOD_NOT_ALLOWED", message };
}

function getLocalAddress({ socket: { localAddress = "127.0.0.1", localPort } }: IncomingMessage): string {
  const address = localAddress.replace(/^::ffff:/, "");
  return `${address.includes(":") ? `[${address}]` : address}:${localPort}`;
}
