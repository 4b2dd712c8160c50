// A page opens previews by their path; a program that brings a token knows the console by its base URL only, and a service tells it addresses.
// Guarantees: `preview_url` is a whole address here, of the same connection; every other value is as it was, large answers of others' too.

import "server-only";
import { CONNECTION_PARAMETER } from "@/lib/contract/console";
import { isObject } from "@/lib/contract/json/json";

/** `consoleUrl` ends in `basePath`, which the console's own paths begin with and a local server's do not. */
type Where = { consoleUrl: string; basePath: string; connectionId: string };

export function forPrograms(value: unknown, where: Where): unknown {
  if (Array.isArray(value)) return value.map((item: unknown) => forPrograms(item, where));
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, item]) => [
      name,
      name === "preview_url" && typeof item === "string" ? toAddress(item, where) : forPrograms(item, where),
    ]),
  );
}

function toAddress(path: string, { consoleUrl, basePath, connectionId }: Where): string {
  const own = basePath !== "" && path.startsWith(`${basePath}/api/`) ? path.slice(basePath.length) : path;
  if (!own.startsWith("/api/")) return path;
  const url = new URL(`${consoleUrl}${own}`);
  url.searchParams.set(CONNECTION_PARAMETER, connectionId);
  return url.href;
}
