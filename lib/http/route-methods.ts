// Which methods the console's addresses take, as the build found them in the routes. Next tells them to OPTIONS alone, and refuses others
// without a body.
// Guarantees: a method that an address has not is 405 with those that it has; one that no address has is 400. Must never: judge a page.
import { type IncomingMessage } from "node:http";
import { type Refused } from "./refusals";

/** By path, with Next's brackets: "/api/jobs/[jobId]". */
export type RouteMethods = Readonly<Record<string, readonly string[]>>;

const known = new Set(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]);

export function judgeMethods(routes: RouteMethods): (request: IncomingMessage) => Refused | undefined {
  // As Next has it, a name goes before a parameter, and that before whatever else comes: "~" sorts behind every letter.
  const order = (path: string) => path.replaceAll("[...", "~~").replaceAll("[", "~");
  const patterns = Object.keys(routes)
    .sort((a, b) => (order(a) < order(b) ? -1 : 1))
    .map((path) => ({ pattern: new RegExp(`^${path.split("/").map(toPattern).join("/")}$`), methods: routes[path] }));
  return ({ method = "", url = "" }) => {
    const path = url.split(/[?#]/)[0] ?? "";
    if (!/^\/api(\/|$)/.test(path)) return undefined;
    if (!known.has(method)) return { status: 400, code: "BAD_REQUEST", message: "This method is not known here." };
    const methods = patterns.find(({ pattern }) => pattern.test(path))?.methods;
    const allowed = methods && new Set([...methods, "OPTIONS", ...(methods.includes("GET") ? ["HEAD"] : [])]);
    if (!allowed || allowed.has(method)) return undefined;
    const allow = [...allowed].sort().join(", ");
    return { status: 405, code: "METHOD_NOT_ALLOWED", message: "This address has no such method.", headers: { allow } };
  };
}

function toPattern(segment: string): string {
  if (segment.startsWith("[")) return segment.startsWith("[...") ? ".+" : "[^/]+";
  return segment.replaceAll(".", "\\.");
}
