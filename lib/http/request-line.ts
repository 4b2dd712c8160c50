// What a request line and its Host header may say, checked before any route.
// Guarantees: a request that passes has a path of its own (no other server's address, no "*"), a method that some route could take, and
// exactly one well-formed host (RFC 9112, 3.2: two readers of two Host headers could take either). A server that listens only on this
// machine answers only to the machine's names and its public address: no foreign page reaches it by a name whose owner points it here.
import { type IncomingMessage } from "node:http";
import { isInNetworks, networks } from "@/lib/shared/ip-address";
import { type Refused } from "./refusals";

export type RequestRules = {
  /** Host names besides those of this machine; undefined if any name is accepted. */
  hosts: readonly string[] | undefined;
  /** Paths of pages, which take only GET and HEAD. */
  isPage: (path: string) => boolean;
};

const hostText = /^(\[[\da-f:.]+\]|[\w.~%!$&'()*+,;=-]+)(:\d{1,5})?$/i;
const loopback = networks("127.0.0.0/8", "::1/128");

/** The names for a server that listens on `host` and has that public address. */
export function hostsOf({ host, publicUrl }: { host: string; publicUrl?: string }): readonly string[] | undefined {
  if (!isThisMachine(host)) return undefined;
  return publicUrl === undefined ? [] : [new URL(publicUrl).hostname.toLowerCase()];
}

/** Undefined if nothing is wrong with the request. */
export function judgeRequest(request: IncomingMessage, { hosts, isPage }: RequestRules): Refused | undefined {
  const { method = "", url = "" } = request;
  const hostProblem = judgeHost(request, hosts);
  if (hostProblem) return hostProblem;
  if (url === "*" && method === "OPTIONS") return undefined;
  if (!url.startsWith("/")) return badRequest("The request line must hold a path, such as /api/health.");
  if (method === "TRACE") return notAllowed("TRACE is not offered: requests are not sent back.");
  if (isPage(url.split(/[?#]/)[0] ?? "") && method !== "GET" && method !== "HEAD" && method !== "OPTIONS")
    return { ...notAllowed("A page takes GET and HEAD only."), headers: { allow: "GET, HEAD" } };
  return undefined;
}

/** Refuses an address whose path cannot be decoded; Next would report a fault of its own. */
export function judgeEncoding({ url = "" }: IncomingMessage): Refused | undefined {
  try {
    decodeURIComponent(url.split(/[?#]/)[0] ?? "");
    return undefined;
  } catch {
    return badRequest("The address is not encoded as it should be: a part of it was cut off or changed.");
  }
}

function judgeHost(request: IncomingMessage, hosts: readonly string[] | undefined): Refused | undefined {
  const given = request.rawHeaders.filter((name, at) => at % 2 === 0 && name.toLowerCase() === "host").length;
  // HTTP/1.0 may leave it out; it then means the address that the request was sent to.
  if (given === 0 && request.httpVersion === "1.0") {
    request.headers.host = addressOf(request);
    return undefined;
  }
  const { host = "" } = request.headers;
  if (given !== 1) return badRequest(`Host: the header ${given === 0 ? "is missing" : "is given more than once"}.`);
  if (!hostText.test(host) || !URL.canParse(`http://${host}`)) return badRequest("Host: the header names no host.");
  const { hostname } = new URL(`http://${host}`);
  if (hosts === undefined || isThisMachine(hostname) || hosts.includes(hostname)) return undefined;
  const message = "Host: it listens on this machine alone and does not go by this name. If people open it there, set LIGHTDESK_PUBLIC_URL.";
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
