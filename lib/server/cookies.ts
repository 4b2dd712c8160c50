// Cookie names and attributes, and the headers that the proxy sets for pages.

import "server-only";

export const SESSION_COOKIE = "lightdesk.session";
/** Browsers accept the first prefix only over https, from this host and for all its paths; the second only over https. */
const prefixes = ["__Host-", "__Secure-"] as const;
export const SESSION_COOKIES: readonly string[] = ["", ...prefixes].map((prefix) => prefix + SESSION_COOKIE);

type CookieOptions = { basePath: string };
type CookieScope = CookieOptions & { publicUrl?: string };

export function isSecure(publicUrl: string | undefined): boolean {
  return publicUrl?.startsWith("https://") ?? false;
}

/** With a base path the first prefix cannot be used: the cookie would also be sent to everything else on the host. */
export function cookieName(plain: string, { publicUrl, basePath }: CookieScope): string {
  if (!isSecure(publicUrl)) return plain;
  return (basePath === "" ? prefixes[0] : prefixes[1]) + plain;
}

export function sessionCookieName(scope: CookieScope): string {
  return cookieName(SESSION_COOKIE, scope);
}

const OF_A_SIGN_IN_SECONDS = 15 * 60;

/** All cookies of next-auth, renamed and limited to our path: under its own names, another product on the host that uses it would clash. */
export function nextAuthCookies(scope: CookieScope) {
  const named = (plain: string, maxAge?: number) => ({
    name: cookieName(`lightdesk.${plain}`, scope),
    options: { httpOnly: true, sameSite: "lax", path: scope.basePath || "/", secure: isSecure(scope.publicUrl), maxAge } as const,
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

export function cookieAttributes({ publicUrl, basePath }: CookieScope, seconds: number): string {
  return `Path=${basePath || "/"}; Max-Age=${seconds}; HttpOnly; SameSite=Lax${isSecure(publicUrl) ? "; Secure" : ""}`;
}

/** A page's path within the console, which pages cannot read otherwise. Not trusted: the sign-in leads only to paths of this application. */
export const PAGE_HEADER = "x-lightdesk-page";
/** The address that the reverse proxy vouches for. Our HTTP server writes it after removing what a client sent under that name. */
export const VOUCHED_HEADER = "x-lightdesk-vouched";

export function readCookie(header: string | null, name: string): string | undefined {
  for (const part of (header ?? "").split(";")) {
    const at = part.indexOf("=");
    if (at > 0 && part.slice(0, at).trim() === name) return part.slice(at + 1).trim();
  }
  return undefined;
}

/** Browsers accept these prefixes only over https (or from this machine); `__Host` only for this very host and all of its paths. */
function named(name: string, { basePath }: CookieOptions): string {
  return `${basePath === "" ? "__Host" : "__Secure"}-lightdesk.${name}`;
}

export function embedCookie(slot: string, scope: CookieOptions): string {
  return named(`embed.${slot}`, scope);
}

/** Shows that the browser keeps cookies here at all. */
export function probeCookie(slot: string, scope: CookieOptions): string {
  return named(`probe.${slot}`, scope);
}

export function embedCookieRules({ basePath }: CookieOptions): string {
  return `Path=${basePath || "/"}; Secure; HttpOnly; SameSite=None; Partitioned`;
}
