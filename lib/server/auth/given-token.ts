// The token of a request, as the interface's clients send it: `X-API-Key`, or `Authorization: Bearer`.
// Guarantees: a request with a token is judged by the token alone, whatever cookies it has; one with two tokens is refused.
// Must never: accept a token from an address, because proxies and browsers log addresses.

import "server-only";
import { bearerIn } from "@/lib/shared/headers";

/** "two": two different tokens. Any X-API-Key counts as a token; a bearer counts only if it looks like one of ours. */
export type GivenToken = { token: string } | "two" | undefined;

export function givenToken(sent: Pick<Headers, "get">): GivenToken {
  const key = sent.get("x-api-key")?.trim() || undefined;
  const bearer = bearerIn(sent.get("authorization"));
  if (key !== undefined && bearer !== undefined && key !== bearer) return "two";
  const token = key ?? (bearer?.startsWith("ld_") ? bearer : undefined);
  return token === undefined ? undefined : { token };
}

/** Every log on the way would see a token in an address. */
export function isTokenInAddress(url: string): boolean {
  const query = url.split("?").slice(1).join("?");
  return /(?<![A-Za-z0-9])ld(?:_|%5f)[0-9a-f]{64}(?![A-Za-z0-9])/i.test(query);
}
