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

const OF_A_SIGN_IN_SECONDS = 15 * 60;

/** All that next-auth sets. Under its own names, for the whole host, it and another product that uses it would take each other's. */
export function nextAuthCookies(place: Place) {
  const named = (plain: string, maxAge?: number) => ({
    name: cookieName(`lightdesk.${plain}`, place),
    options: { httpOnly: true, sameSite: "lax", path: place.basePath || "/", secure: isSecure(place.publicUrl), maxAge } as const,
  });
  return {
    sessionToken: named("session"),
    csrfToken: named("csrf"),
    callbackUrl: named("callback"),
    pkceCodeVerifier: named("pkce", OF_A_SIGN_IN_SECONDS),
    state: named("state", OF_A_SIGN_IN_SECONDS),
    nonce: named("nonce", OF_A_SIGN_IN_SECONDS),
  };
}

/** The attributes of our cookies in Set-Cookie. */
export function cookieAttributes({ publicUrl, basePath }: Place, seconds: number): string {
  return `Path=${basePath || "/"}; Max-Age=${seconds}; HttpOnly; SameSite=Lax${isSecure(publicUrl) ? "; Secure" : ""}`;
}
