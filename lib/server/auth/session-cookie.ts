// How the console's cookies are named, and where browsers send them. Free of everything else: proxy.ts looks for the session's too.

import "server-only";

export const SESSION_COOKIE = "lightdesk.session";
/** Browsers accept a name with the first over https only, from this very host, and for all of its paths; with the second over https only. */
const prefixes = ["__Host-", "__Secure-"] as const;
export const SESSION_COOKIES: readonly string[] = ["", ...prefixes].map((prefix) => prefix + SESSION_COOKIE);

type Place = { publicUrl?: string; basePath: string };

export function isSecure(publicUrl: string | undefined): boolean {
  return publicUrl?.startsWith("https://") ?? false;
}

/** Below a path the first prefix is out of question: it would have the cookie sent to whatever else the host serves. */
export function cookieName(plain: string, { publicUrl, basePath }: Place): string {
  if (!isSecure(publicUrl)) return plain;
  return (basePath === "" ? prefixes[0] : prefixes[1]) + plain;
}

export function sessionCookieName(place: Place): string {
  return cookieName(SESSION_COOKIE, place);
}

/** What stands behind `name=value` in a Set-Cookie of ours. */
export function cookieAttributes({ publicUrl, basePath }: Place, seconds: number): string {
  return `Path=${basePath || "/"}; Max-Age=${seconds}; HttpOnly; SameSite=Lax${isSecure(publicUrl) ? "; Secure" : ""}`;
}
