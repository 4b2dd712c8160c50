// The last step before a value leaves the server, for pages and handlers alike: secrets are masked, and addresses of the embedded
// service, which exists in this process only, become the console's own.
// Must never: be skipped for an answer of a service, refusals included.

import "server-only";
import { maskSecrets } from "@/lib/contract/mask-secrets";
import { EMBEDDED_BASE_URL, isEmbedded } from "../upstream/send";
import { CONNECTION_PARAMETER } from "./read-request";

type From = { connection: { id: string; baseUrl: string }; apiKey: string | undefined };

export function toBrowser<T>(value: T, { connection, apiKey }: From): T {
  const masked = maskSecrets(value, apiKey === undefined ? [] : [apiKey]);
  return isEmbedded(connection.baseUrl) ? rewritten(masked, connection.id) : masked;
}

function rewritten<T>(value: T, connectionId: string): T;
function rewritten(value: unknown, connectionId: string): unknown {
  if (typeof value === "string") return value.startsWith(`${EMBEDDED_BASE_URL}/`) ? toOwnPath(value, connectionId) : value;
  if (Array.isArray(value)) return value.map((item: unknown) => rewritten(item, connectionId));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, rewritten(item, connectionId)]));
}

function toOwnPath(address: string, connectionId: string): string {
  if (!URL.canParse(address)) return address;
  const url = new URL(address);
  url.searchParams.set(CONNECTION_PARAMETER, connectionId);
  return `${url.pathname}${url.search}`;
}
