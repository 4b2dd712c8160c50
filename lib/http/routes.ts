// Serves files that the build compressed with Brotli (bin/prepare.mjs), and checks the methods of each route.

import { readdirSync } from "node:fs";
import { type IncomingMessage, type ServerResponse } from "node:http";
import { join } from "node:path";
import { getOwn } from "@/lib/contract/json/json";
import { acceptsEncoding } from "@/lib/shared/headers";
import { type ErrorResponse } from "@/lib/shared/http-types";
import { toRouteUrl } from "./request-line";

const contentTypes: Readonly<Record<string, string>> = {
  ".js": "application/javascript; charset=UTF-8",
  ".css": "text/css; charset=UTF-8",
};

type PreferCompressed = (request: IncomingMessage, response: ServerResponse) => void;

export function createCompressedFiles(folder: string, prefix: string): PreferCompressed {
  const compressedFiles = new Set(
    readdirSync(folder, { recursive: true, encoding: "utf8" })
      .filter((file) => file.endsWith(".br"))
      .map((file) => `${prefix}/${file.replaceAll("\\", "/")}`),
  );
  return (request, response) => {
    const { url = "", method } = request;
    if (method !== "GET" && method !== "HEAD") return;
    const path = url.split("?", 1)[0] ?? "";
    const contentType = contentTypes[/\.\w+$/.exec(path)?.[0] ?? ""];
    if (contentType === undefined || !compressedFiles.has(`${path}.br`) || !acceptsEncoding(request.headers, "br")) return;
    // A range of compressed bytes is useless to a browser, and an error response for it would be marked as compressed.
    delete request.headers.range;
    request.url = `${path}.br${url.slice(path.length)}`;
    response.setHeader("content-encoding", "br");
    response.setHeader("content-type", contentType);
  };
}

export function createPublicFileTest(root: string, buildFolder: string): (url: string) => boolean {
  const listFiles = (folder: string, prefix: string) =>
    readdirSync(join(root, folder), { recursive: true, encoding: "utf8" }).map((file) => `${prefix}/${file.replaceAll("\\", "/")}`);
  const files = new Set([...listFiles("public", ""), ...listFiles(`${buildFolder}/static`, "/_next/static"), "/icon.svg", "/favicon.ico"]);
  return (url) => files.has(decodeURI(url.split(/[?#]/, 1)[0] ?? ""));
}

type RouteMethods = Readonly<Record<string, readonly string[]>>;

const allMethods = new Set(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]);

export function createMethodCheck(routes: RouteMethods): (request: IncomingMessage) => ErrorResponse | undefined {
  const findRoutePath = createRouteFinder(Object.keys(routes));
  return ({ method = "", url = "" }) => {
    const path = getPath(url);
    if (!/^\/api(\/|$)/.test(path)) return undefined;
    if (!allMethods.has(method)) return { status: 400, code: "BAD_REQUEST", message: "Unknown method." };
    const methods = getOwn(routes, findRoutePath(path) ?? "");
    const allowedMethods = methods && new Set([...methods, "OPTIONS", ...(methods.includes("GET") ? ["HEAD"] : [])]);
    if (!allowedMethods || allowedMethods.has(method)) return undefined;
    const allow = [...allowedMethods].sort().join(", ");
    return { status: 405, code: "METHOD_NOT_ALLOWED", message: "This method is not allowed here.", headers: { allow } };
  };
}

export type NameRequest = (request: Pick<IncomingMessage, "method" | "url">) => { method: string; route: string };

export function createRequestNamer(paths: readonly string[]): NameRequest {
  const findRoutePath = createRouteFinder(paths);
  return ({ method = "", url = "" }) => {
    const path = getPath(toRouteUrl(url));
    const route = /^\/(_next|samples)\//.exec(path)?.[0].concat("*") ?? findRoutePath(path) ?? "other";
    return { method: allMethods.has(method) ? method : "other", route };
  };
}

function createRouteFinder(paths: readonly string[]): (path: string) => string | undefined {
  // As in Next, a name takes precedence over a parameter, and a parameter over a catch-all. "~" sorts after every letter.
  const toSortKey = (path: string) => path.replaceAll("[...", "~~").replaceAll("{file}", "~~").replaceAll(/[[{]/g, "~");
  const patterns = [...new Set(paths)]
    .sort((a, b) => (toSortKey(a) < toSortKey(b) ? -1 : 1))
    .map((path) => ({ pattern: new RegExp(`^${path.split("/").map(toPattern).join("/")}$`), path }));
  return (path) => patterns.find(({ pattern }) => pattern.test(path))?.path;
}

function getPath(url: string): string {
  return url.split(/[?#]/)[0] ?? "";
}

function toPattern(segment: string): string {
  if (segment.startsWith("[...") || segment === "{file}") return ".+";
  return /^[[{]/.test(segment) ? "[^/]+" : segment.replaceAll(".", "\\.");
}
