// Masks secrets in service responses and replaces URLs of the embedded service. Used for every response to a client.

import "server-only";
import { CONNECTION_PARAMETER } from "@/lib/contract/console";
import { copySpellings } from "@/lib/contract/json/exact-json";
import { maskSecrets } from "@/lib/contract/secrets/mask-secrets";
import { type Dependencies } from "../composition-type";
import { type Env, getConsolePath, getConsoleUrl, removeBasePath } from "../env";
import { EMBEDDED_BASE_URL, isEmbedded } from "../upstream/send";

export type Source = { composition: Dependencies<"env">; connection: { id: string; baseUrl: string }; apiKey: string | undefined };

export function redactForBrowser<T>(value: T, source: Source): T {
  return replaceServiceUrls(maskSecrets(value, source.apiKey === undefined ? [] : [source.apiKey]), source);
}

/** For values that are already masked: replaces URLs of the embedded service with the console's own. */
export function replaceServiceUrls<T>(value: T, source: Omit<Source, "apiKey">): T {
  if (!isEmbedded(source.connection.baseUrl)) return value;
  return mapStrings(value, (text) => (text.startsWith(`${EMBEDDED_BASE_URL}/`) ? toConsolePath(text, source) : text));
}

/**
 * Maps the strings in a JSON value; `name` is the field name. Unchanged values are not copied, because pages poll every second.
 * Copies preserve the number literals.
 */
function mapStrings<T>(value: T, transform: (text: string, name?: string) => string): T;
function mapStrings(value: unknown, transform: (text: string, name?: string) => string, name?: string): unknown;
function mapStrings(value: unknown, transform: (text: string, name?: string) => string, name?: string): unknown {
  if (typeof value === "string") return transform(value, name);
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) {
    const items = value.map((item: unknown) => mapStrings(item, transform));
    return items.every((item, index) => item === value[index]) ? value : copySpellings(value, items);
  }
  const entries = Object.entries(value);
  const mappedEntries = entries.map(([key, item]): [string, unknown] => [key, mapStrings(item, transform, key)]);
  return mappedEntries.every(([, item], index) => item === entries[index]?.[1])
    ? value
    : copySpellings(value, Object.fromEntries(mappedEntries));
}

function toConsolePath(serviceUrl: string, { composition, connection }: Omit<Source, "apiKey">): string {
  if (!URL.canParse(serviceUrl)) return serviceUrl;
  const url = new URL(serviceUrl);
  url.searchParams.set(CONNECTION_PARAMETER, connection.id);
  return getConsolePath(composition.env, url.pathname + url.search);
}

/** API clients get absolute URLs; `requestOrigin` is the origin through which they reached the console. */
type ApiClient = { env: Env; requestOrigin: string | null; connectionId: string };

export function redactForApi(value: unknown, client: ApiClient): unknown {
  return mapStrings(value, (text, name) => (name === "preview_url" ? toAbsoluteUrl(text, client) : text));
}

function toAbsoluteUrl(path: string, { env, requestOrigin, connectionId }: ApiClient): string {
  const consolePathname = removeBasePath(env, path);
  if (!consolePathname.startsWith("/api/")) return path;
  const url = new URL(`${getConsoleUrl(env, requestOrigin)}${consolePathname}`);
  url.searchParams.set(CONNECTION_PARAMETER, connectionId);
  return url.href;
}
