// The routes of an HTTP server by their paths: which methods the console's addresses take, as the build found them in the routes (Next tells
// them to OPTIONS alone, and refuses others without a body), and which route an address belongs to.
// Guarantees: a method that an address has not is 405 with those that it has; one that no address has is 400. Must never: judge a page.
import { type IncomingMessage } from "node:http";
import { placeAt } from "./places";
import { type Refused } from "./refusals";

/** By path, with Next's brackets: "/api/jobs/[jobId]". */
export type RouteMethods = Readonly<Record<string, readonly string[]>>;

const known = new Set(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]);

export function judgeMethods(routes: RouteMethods): (request: IncomingMessage) => Refused | undefined {
  const routeOf = findRoute(Object.keys(routes));
  return ({ method = "", url = "" }) => {
    const path = pathOf(url);
    if (!/^\/api(\/|$)/.test(path)) return undefined;
    if (!known.has(method)) return { status: 400, code: "BAD_REQUEST", message: "This method is not known." };
    const methods = routes[routeOf(path) ?? ""];
    const allowed = methods && new Set([...methods, "OPTIONS", ...(methods.includes("GET") ? ["HEAD"] : [])]);
    if (!allowed || allowed.has(method)) return undefined;
    const allow = [...allowed].sort().join(", ");
    return { status: 405, code: "METHOD_NOT_ALLOWED", message: "This address has no such method.", headers: { allow } };
  };
}

/** Words for a request that are few, whatever is sent: a method, and a route of the program's own. */
export type NameRequest = (request: Pick<IncomingMessage, "method" | "url">) => { method: string; route: string };

/** `paths`: with Next's brackets, or with `{name}` as the contract has them. */
export function nameRequests(paths: readonly string[]): NameRequest {
  const routeOf = findRoute(paths);
  return ({ method = "", url = "" }) => {
    const path = pathOf(placeAt(url)?.rest ?? url);
    const route = /^\/(_next|samples)\//.exec(path)?.[0].concat("*") ?? routeOf(path) ?? "other";
    return { method: known.has(method) ? method : "other", route };
  };
}

function findRoute(paths: readonly string[]): (path: string) => string | undefined {
  // As Next has it, a name goes before a parameter, and that before whatever else comes: "~" sorts behind every letter.
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
