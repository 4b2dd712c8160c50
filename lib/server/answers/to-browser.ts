// The last step before a value leaves the server, for pages and handlers alike: masks secrets, and turns addresses of the embedded service
// (which exists only in this process) into the console's own.
// Must never: be skipped for an answer of a service, including refusals.

import "server-only";
import { CONNECTION_PARAMETER } from "@/lib/contract/console";
import { withSpellingsOf } from "@/lib/contract/json/exact-json";
import { maskSecrets } from "@/lib/contract/secrets/mask-secrets";
import { runningComposition } from "../running";
import { EMBEDDED_BASE_URL, isEmbedded } from "../upstream/send";

type From = { connection: { id: string; baseUrl: string }; apiKey: string | undefined };

export function toBrowser<T>(value: T, { connection, apiKey }: From): T {
  // Large answers are already masked and are not walked through again.
  const large = runningComposition()?.largeAnswers;
  const masked = maskSecrets(value, apiKey === undefined ? [] : [apiKey], large?.isMasked);
  return isEmbedded(connection.baseUrl) ? rewritten(masked, { connectionId: connection.id, isClean: large?.isClean }) : masked;
}

function rewritten<T>(value: T, { connectionId, isClean }: { connectionId: string; isClean?: (value: object) => boolean }): T {
  return mapStrings(value, (text) => (text.startsWith(`${EMBEDDED_BASE_URL}/`) ? toOwnPath(text, connectionId) : text), isClean);
}

/**
 * Maps the strings in a JSON value; `name` is the field name. Unchanged values are returned without copying, because pages are polled
 * every second. Copies keep the spelling of their numbers.
 */
function mapStrings<T>(value: T, change: (text: string, name?: string) => string, isClean?: (value: object) => boolean): T;
function mapStrings(
  value: unknown,
  change: (text: string, name?: string) => string,
  isClean?: (value: object) => boolean,
  name?: string,
): unknown;
function mapStrings(
  value: unknown,
  change: (text: string, name?: string) => string,
  isClean?: (value: object) => boolean,
  name?: string,
): unknown {
  if (typeof value === "string") return change(value, name);
  if (typeof value !== "object" || value === null || isClean?.(value)) return value;
  if (Array.isArray(value)) {
    const items = value.map((item: unknown) => mapStrings(item, change, isClean));
    return items.every((item, index) => item === value[index]) ? value : withSpellingsOf(value, items);
  }
  const before = Object.entries(value);
  const after = before.map(([key, item]): [string, unknown] => [key, mapStrings(item, change, isClean, key)]);
  return after.every(([, item], index) => item === before[index]?.[1]) ? value : withSpellingsOf(value, Object.fromEntries(after));
}

function toOwnPath(address: string, connectionId: string): string {
  if (!URL.canParse(address)) return address;
  const url = new URL(address);
  url.searchParams.set(CONNECTION_PARAMETER, connectionId);
  return `${runningComposition()?.env.basePath ?? ""}${url.pathname}${url.search}`;
}

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
