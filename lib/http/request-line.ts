import { AsyncLocalStorage } from "node:async_hooks";
import { type IncomingMessage } from "node:http";
import { decodePercent } from "@/lib/contract/plain-line";
import { EMBED_PATH_HEADER, parseEmbedPath, setEmbedPaths } from "@/lib/shared/console-paths";
import { type ErrorResponse } from "@/lib/shared/http-types";
import { createBlockList, isInNetworks, toPlainAddress } from "@/lib/shared/ip-address";

function stripBasePath(url: string, basePath: string): string {
  if (basePath === "" || !url.startsWith(basePath)) return url;
  const path = url.slice(basePath.length);
  if (path === "" || path.startsWith("?") || path.startsWith("#")) return `/${path}`;
  return path.startsWith("/") ? path : url;
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

/** Adds the base path for Next without a slash after it. Otherwise, Next and some proxies would redirect. */
export function addBasePath(url: string, basePath: string): string {
  return basePath !== "" && /^\/([?#]|$)/.test(url) ? basePath + url.slice(1) : basePath + url;
}

const USERDATA_PREFIX = /^\/api\/userdata\//i;
const dotsPattern = /^(\.|%2e){1,2}$/i;

/** Double-encodes dot segments and backslashes, so that no parser resolves them and the route rejects them. */
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

/** Next would redirect an API path with an empty segment, and render a page for `/api`. Maps both to an unknown path, which gets JSON. */
export function toRoutableUrl(url: string): string {
  const path = url.split(/[?#]/)[0] ?? "";
  return isApiPath(path) && /^\/api$|\/$|\/\/|\\/.test(path) ? `/api/-${url.slice(path.length)}` : url;
}

export function createEmbedPaths(): { runWithEmbedPath<T>(request: IncomingMessage, handle: () => T): T } {
  const paths = new AsyncLocalStorage<string>();
  setEmbedPaths(paths);
  return {
    runWithEmbedPath(request, handle) {
      delete request.headers[EMBED_PATH_HEADER];
      const embedUrl = parseEmbedUrl(request.url ?? "");
      if (!embedUrl) return handle();
      request.headers[EMBED_PATH_HEADER] = embedUrl.path;
      // Next's own proxy would truncate uploads. For pages, it rewrites the URL (proxy.ts).
      if (/^\/(api|samples)(?=[/?]|$)/.test(embedUrl.innerUrl)) request.url = embedUrl.innerUrl;
      return paths.run(embedUrl.path, handle);
    },
  };
}

export function isApiPath(path: string): boolean {
  return /^\/api(\/|$)/.test(toRouteUrl(path));
}

/** Returns the URL for matching routes, without the path of an embedded session. */
export function toRouteUrl(address: string): string {
  return parseEmbedUrl(address)?.innerUrl ?? address;
}

/** Matches only at the start of the URL, because the same text may be part of a file name later in it. */
function parseEmbedUrl(address: string): ReturnType<typeof parseEmbedPath> {
  const embedAddress = parseEmbedPath(address);
  return embedAddress && address.startsWith(embedAddress.path) ? embedAddress : undefined;
}

export type RequestRules = {
  hosts: readonly string[] | undefined;
  isPage: (path: string) => boolean;
};

const hostPattern = /^(\[[\da-f:.]+\]|[\w.~%!$&'()*+,;=-]+)(:\d{1,5})?$/i;
const loopbackNetworks = createBlockList("127.0.0.0/8", "::1/128");

export function getHosts({ host, publicUrl }: { host: string; publicUrl?: string }): readonly string[] | undefined {
  if (!isLocalName(host)) return undefined;
  return publicUrl === undefined ? [] : [new URL(publicUrl).hostname.toLowerCase()];
}

export function checkRequest(request: IncomingMessage, { hosts, isPage }: RequestRules): ErrorResponse | undefined {
  const { method = "", url = "" } = request;
  const hostError = checkHost(request, hosts);
  if (hostError) return hostError;
  if (url === "*" && method === "OPTIONS") return undefined;
  if (!url.startsWith("/")) return createBadRequest("The request line must contain a path, such as /api/health.");
  if (method === "TRACE") return createMethodNotAllowed("TRACE is not supported.");
  if (isPage(url.split(/[?#]/)[0] ?? "") && method !== "GET" && method !== "HEAD" && method !== "OPTIONS")
    return { ...createMethodNotAllowed("Pages allow only GET and HEAD."), headers: { allow: "GET, HEAD" } };
  return undefined;
}

/** Rejects a URL whose path cannot be decoded, because Next would report its own error. */
export function checkEncoding({ url = "" }: IncomingMessage): ErrorResponse | undefined {
  if (decodePercent(url.split(/[?#]/)[0] ?? "") !== undefined) return undefined;
  return createBadRequest("The URL is not percent-encoded correctly: it may have been cut off or changed.");
}

function checkHost(request: IncomingMessage, hosts: readonly string[] | undefined): ErrorResponse | undefined {
  const hostCount = request.rawHeaders.filter((name, index) => index % 2 === 0 && name.toLowerCase() === "host").length;
  // HTTP/1.0 may omit the header. The host is then the address that the request was sent to.
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
  return name === "localhost" || name.endsWith(".localhost") || isInNetworks(name, loopbackNetworks);
}

function createBadRequest(message: string): ErrorResponse {
  return { status: 400, code: "BAD_REQUEST", message };
}

function createMethodNotAllowed(message: string): ErrorResponse {
  return { status: 405, code: "METHOD_NOT_ALLOWED", message };
}

function getLocalAddress({ socket: { localAddress = "127.0.0.1", localPort } }: IncomingMessage): string {
  const address = toPlainAddress(localAddress);
  return `${address.includes(":") ? `[${address}]` : address}:${localPort}`;
}
