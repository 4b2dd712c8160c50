// The token that a request brings, in the ways of the interface's clients: `X-API-Key`, or `Authorization: Bearer`.
// Guarantees: a request that brings one is judged by it alone, whatever cookies come along; one that brings two is refused.
// Must never: take a token out of an address, where proxies and browsers write it down.

import "server-only";
/** "two": they differ, and it is not clear which was meant. Anything in X-API-Key is meant as a token; of bearers those that look like one. */
export type GivenToken = { token: string } | "two" | undefined;

export function givenToken(sent: Pick<Headers, "get">): GivenToken {
  const key = sent.get("x-api-key")?.trim() || undefined;
  const bearer = /^bearer +(.+)$/i.exec(sent.get("authorization")?.trim() ?? "")?.[1];
  if (key !== undefined && bearer !== undefined && key !== bearer) return "two";
  const token = key ?? (bearer?.startsWith("ld_") ? bearer : undefined);
  return token === undefined ? undefined : { token };
}

/** In an address it is seen by every log on the way. */
export function isTokenInAddress(url: string): boolean {
  const query = url.split("?").slice(1).join("?");
  return /(?<![A-Za-z0-9])ld(?:_|%5f)[0-9a-f]{64}(?![A-Za-z0-9])/i.test(query);
}
