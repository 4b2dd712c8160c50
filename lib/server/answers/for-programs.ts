// Turns the paths in `preview_url` into whole addresses for programs with a token: they know only the console's base URL, and a service
// would send addresses too. (Pages use the paths.)
// Guarantees: the address is at this console and names the same connection; every other value, and large
// answers of other services, stay unchanged.

import "server-only";
import { CONNECTION_PARAMETER } from "@/lib/contract/console";
import { mapStrings } from "./to-browser";

/** `consoleUrl` ends in `basePath`. The console's own paths begin with `basePath`, those of a local server do not. */
type Where = { consoleUrl: string; basePath: string; connectionId: string };

export function forPrograms(value: unknown, where: Where): unknown {
  return mapStrings(value, (text, name) => (name === "preview_url" ? toAddress(text, where) : text));
}

function toAddress(path: string, { consoleUrl, basePath, connectionId }: Where): string {
  const own = basePath !== "" && path.startsWith(`${basePath}/api/`) ? path.slice(basePath.length) : path;
  if (!own.startsWith("/api/")) return path;
  const url = new URL(`${consoleUrl}${own}`);
  url.searchParams.set(CONNECTION_PARAMETER, connectionId);
  return url.href;
}
