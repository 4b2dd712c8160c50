// Which methods each address takes, as the build found them, and which route it belongs to.
import { type IncomingMessage } from "node:http";
import { own } from "@/lib/contract/json/own";
import { type Refused } from "@/lib/shared/visitors";
import { embedAddressAt } from "./request-line";

export type RouteMethods = Readonly<Record<string, readonly string[]>>;

const known = new Set(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]);

export function judgeMethods(routes: RouteMethods): (request: IncomingMessage) => Refused | undefined {
  const routeOf = findRoute(Object.keys(routes));
  return ({ method = "", url = "" }) => {
    const path = pathOf(url);
    if (!/^\/api(\/|$)/.test(path)) return undefined;
    if (!known.has(method)) return { status: 400, code: "BAD_REQUEST", message: "This method is not known." };
    const methods = own(routes, routeOf(path) ?? "");
    const allowed = methods && new Set([...methods, "OPTIONS", ...(methods.includes("GET") ? ["HEAD"] : [])]);
    if (!allowed || allowed.has(method)) return undefined;
    const allow = [...allowed].sort().join(", ");
    return { status: 405, code: "METHOD_NOT_ALLOWED", message: "This address has no such method.", headers: { allow } };
  };
}

/** Names for a request from a small set, whatever is sent: a method, and one of the program's own routes. */
export type NameRequest = (request: Pick<IncomingMessage, "method" | "url">) => { method: string; route: string };

/** `paths`: with Next's brackets, or with the contract's `{name}`. */
export function nameRequests(paths: readonly string[]): NameRequest {
  const routeOf = findRoute(paths);
  return ({ method = "", url = "" }) => {
    const path = pathOf(embedAddressAt(url)?.rest ?? url);
    const route = /^\/(_next|samples)\//.exec(path)?.[0].concat("*") ?? routeOf(path) ?? "other";
    return { method: known.has(method) ? method : "other", route };
  };
}

function findRoute(paths: readonly string[]): (path: string) => string | undefined {
  // As in Next, a name goes before a parameter, and a parameter before a catch-all: "~" sorts after every letter.
  const order = (path: string) => path.replaceAll("[...", "~~").replaceAll("{file}", "~~").replaceAll(/[[{]/g, "~");
  const patterns = [...new Set(paths)]
    .sort((a, b) => (order(a) < order(b) ? -1 : 1))
    .map((path) => ({ pattern: new RegExp(`^${path.split("/").map(toPattern).join("/")}$`), path }));
  return (asked) => patterns.find(({ pattern }) => pattern.test(asked))?.path;
}

function pathOf(url: string): string {
  return url.split(/[?#]/)[0] ?? "";
}

function toPattern(segment: string): string {
  if (segment.startsWith("[...") || segment === "{file}") return ".+";
  return /^[[{]/.test(segment) ? "[^/]+" : segment.replaceAll(".", "\\.");
}
