// Cookie names and attributes, and the headers that the proxy sets for pages.

import "server-only";

export const SESSION_COOKIE = "lightdesk.session";
/** Browsers accept `__Host-` only over https, for this host and all its paths, and `__Secure-` only over https. */
const prefixes = ["__Host-", "__Secure-"] as const;
export const SESSION_COOKIES: readonly string[] = ["", ...prefixes].map((prefix) => prefix + SESSION_COOKIE);

type CookieOptions = { basePath: string };
type CookieScope = CookieOptions & { publicUrl?: string };

export function isSecure(publicUrl: string | undefined): boolean {
  return publicUrl?.startsWith("https://") ?? false;
}

/** With a base path, `__Host-` cannot be used: the cookie would also be sent to everything else on the host. */
export function cookieName(plain: string, { publicUrl, basePath }: CookieScope): string {
  if (!isSecure(publicUrl)) return plain;
  return (basePath === "" ? prefixes[0] : prefixes[1]) + plain;
}

export function sessionCookieName(scope: CookieScope): string {
  return cookieName(SESSION_COOKIE, scope);
}

const SIGN_IN_COOKIE_SECONDS = 15 * 60;

/** All cookies of next-auth, renamed and limited to our path. Its default names would clash with other products on the host. */
export function nextAuthCookies(scope: CookieScope) {
  const toCookie = (plain: string, maxAge?: number) => ({
    name: cookieName(`lightdesk.${plain}`, scope),
    options: { httpOnly: true, sameSite: "lax", path: scope.basePath || "/", secure: isSecure(scope.publicUrl), maxAge } as const,
  });
  return {
    sessionToken: toCookie("session"),
    csrfToken: toCookie("csrf"),
    callbackUrl: toCookie("callback"),
    pkceCodeVerifier: toCookie("pkce", SIGN_IN_COOKIE_SECONDS),
    state: toCookie("state", SIGN_IN_COOKIE_SECONDS),
    nonce: toCookie("nonce", SIGN_IN_COOKIE_SECONDS),
  };
}

export function cookieAttributes({ publicUrl, basePath }: CookieScope, seconds: number): string {
  return `Path=${basePath || "/"}; Max-Age=${seconds}; HttpOnly; SameSite=Lax${isSecure(publicUrl) ? "; Secure" : ""}`;
}

/** A page's path within the console, which pages cannot read otherwise. Not trusted: the sign-in only redirects within this application. */
export const PAGE_HEADER = "x-lightdesk-page";
/** The email address from the authenticating proxy. Our HTTP server sets it after removing what the client sent under this name. */
export const PROXY_EMAIL_HEADER = "x-lightdesk-vouched";

export function readCookie(header: string | null, name: string): string | undefined {
  for (const part of (header ?? "").split(";")) {
    const at = part.indexOf("=");
    if (at > 0 && part.slice(0, at).trim() === name) return part.slice(at + 1).trim();
  }
  return undefined;
}

/** Browsers accept these prefixes only over https or from this machine, and `__Host` only for this host and all of its paths. */
function toCookieName(name: string, { basePath }: CookieOptions): string {
  return `${basePath === "" ? "__Host" : "__Secure"}-lightdesk.${name}`;
}

export function embedCookie(slot: string, scope: CookieOptions): string {
  return toCookieName(`embed.${slot}`, scope);
}

/** Detects whether the browser stores cookies in this frame. */
export function probeCookie(slot: string, scope: CookieOptions): string {
  return toCookieName(`probe.${slot}`, scope);
}

export function embedCookieAttributes({ basePath }: CookieOptions): string {
  return `Path=${basePath || "/"}; Secure; HttpOnly; SameSite=None; Partitioned`;
}
