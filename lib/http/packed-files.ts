// Sends the files that the build packed with Brotli (bin/build/finish-pages.mjs) to browsers that read it.
import { readdirSync } from "node:fs";
import { type IncomingMessage, type ServerResponse } from "node:http";
import { join } from "node:path";

const types: Readonly<Record<string, string>> = { ".js": "application/javascript; charset=UTF-8", ".css": "text/css; charset=UTF-8" };

export type PreferPacked = (request: IncomingMessage, response: ServerResponse) => void;

export function packedFiles(folder: string, prefix: string): PreferPacked {
  const packed = new Set(
    readdirSync(folder, { recursive: true, encoding: "utf8" })
      .filter((file) => file.endsWith(".br"))
      .map((file) => `${prefix}/${file.replaceAll("\\", "/")}`),
  );
  return (request, response) => {
    const { url = "", method } = request;
    if (method !== "GET" && method !== "HEAD") return;
    const path = url.split("?", 1)[0] ?? "";
    const type = types[/\.\w+$/.exec(path)?.[0] ?? ""];
    if (type === undefined || !packed.has(`${path}.br`) || !readsBrotli(String(request.headers["accept-encoding"] ?? ""))) return;
    // A range of packed bytes is useless to a browser, and the refusal of a range would be marked as packed.
    delete request.headers.range;
    request.url = `${path}.br${url.slice(path.length)}`;
    response.setHeader("content-encoding", "br");
    response.setHeader("content-type", type);
  };
}

export function publicFiles(root: string, build: string): (url: string) => boolean {
  const list = (folder: string, prefix: string) =>
    readdirSync(join(root, folder), { recursive: true, encoding: "utf8" }).map((file) => `${prefix}/${file.replaceAll("\\", "/")}`);
  const files = new Set([...list("public", ""), ...list(`${build}/static`, "/_next/static"), "/icon.svg", "/favicon.ico"]);
  return (url) => files.has(decodeURI(url.split(/[?#]/, 1)[0] ?? ""));
}

function readsBrotli(accepted: string): boolean {
  return accepted.split(",").some((one) => /^\s*br\s*(;\s*q=(?!0(\.0*)?\s*$).*)?$/i.test(one));
}
