// The last step before a value leaves the server, for pages and handlers alike: masks secrets, and turns addresses of the embedded service
// (which exists only in this process) into the console's own.
// Must never: be skipped for an answer of a service, including refusals.

import "server-only";
import { CONNECTION_PARAMETER } from "@/lib/contract/console";
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

type Rewriting = { connectionId: string; isClean?: (value: object) => boolean };

function rewritten<T>(value: T, how: Rewriting): T;
function rewritten(value: unknown, how: Rewriting): unknown {
  if (typeof value === "string") return value.startsWith(`${EMBEDDED_BASE_URL}/`) ? toOwnPath(value, how.connectionId) : value;
  if (typeof value !== "object" || value === null || how.isClean?.(value)) return value;
  // A value without such an address is returned as it is: a page of rows that is polled every second is not copied.
  if (Array.isArray(value)) {
    const items = value.map((item: unknown) => rewritten(item, how));
    return items.every((item, index) => item === value[index]) ? value : items;
  }
  const before = Object.entries(value);
  const after = before.map(([name, item]): [string, unknown] => [name, rewritten(item, how)]);
  return after.every(([, item], index) => item === before[index]?.[1]) ? value : Object.fromEntries(after);
}

function toOwnPath(address: string, connectionId: string): string {
  if (!URL.canParse(address)) return address;
  const url = new URL(address);
  url.searchParams.set(CONNECTION_PARAMETER, connectionId);
  return `${runningComposition()?.env.basePath ?? ""}${url.pathname}${url.search}`;
}
