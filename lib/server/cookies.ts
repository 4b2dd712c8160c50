// Cookie names and attributes, and the headers that the proxy sets for pages.

import "server-only";

export const SESSION_COOKIE = "lightdesk.session";
/** Browsers accept `__Host-` only over https, for this host and all its paths, and `__Secure-` only over https. */
const prefixes = ["__Host-", "__Secure-"] as const;
export const SESSION_COOKIES: readonly string[] = ["", ...prefixes].map((prefix) => prefix + SESSION_COOKIE);

type CookieOptions = { basePath: string };
type CookieScope = CookieOptions & { publicUrl?: string };

export function isHttps(publicUrl: string | undefined): boolean {
  return publicUrl?.startsWith("https://") ?? false;
}

/** With a base path, `__Host-` cannot be used: the cookie would also be sent to everything else on the host. */
export function getCookieName(baseName: string, { publicUrl, basePath }: CookieScope): string {
  if (!isHttps(publicUrl)) return baseName;
  return (basePath === "" ? prefixes[0] : prefixes[1]) + baseName;
}

export function getSessionCookieName(scope: CookieScope): string {
  return getCookieName(SESSION_COOKIE, scope);
}

/** The lifetime of a sign-in's cookies. */
export const SIGN_IN_TTL_SECONDS = 15 * 60;

/** All cookies of next-auth, renamed and limited to our path. Its default names would clash with other products on the host. */
export function createNextAuthCookies(scope: CookieScope) {
  const toCookie = (baseName: string, maxAge?: number) => ({
    name: getCookieName(`lightdesk.${baseName}`, scope),
    options: { httpOnly: true, sameSite: "lax", path: scope.basePath || "/", secure: isHttps(scope.publicUrl), maxAge } as const,
  });
  return {
    sessionToken: toCookie("session"),
    csrfToken: toCookie("csrf"),
    callbackUrl: toCookie("callback"),
    pkceCodeVerifier: toCookie("pkce", SIGN_IN_TTL_SECONDS),
    state: toCookie("state", SIGN_IN_TTL_SECONDS),
    nonce: toCookie("nonce", SIGN_IN_TTL_SECONDS),
  };
}

export function formatCookieAttributes({ publicUrl, basePath }: CookieScope, maxAgeSeconds: number): string {
  return `Path=${basePath || "/"}; Max-Age=${maxAgeSeconds}; HttpOnly; SameSite=Lax${isHttps(publicUrl) ? "; Secure" : ""}`;
}

/** A page's path within the console, which pages cannot read otherwise. Not trusted: the sign-in only redirects within this application. */
export const PAGE_HEADER = "x-lightdesk-page";
/** The email address from the authenticating proxy. Our HTTP server sets it after removing what the client sent under this name. */
export const PROXY_EMAIL_HEADER = "x-lightdesk-vouched";

export function readCookie(header: string | null, name: string): string | undefined {
  for (const part of (header ?? "").split(";")) {
    const separatorIndex = part.indexOf("=");
    if (separatorIndex > 0 && part.slice(0, separatorIndex).trim() === name) return part.slice(separatorIndex + 1).trim();
  }
  return undefined;
}

/** Browsers accept these prefixes only over https or from this machine, and `__Host` only for this host and all of its paths. */
function getPartitionedCookieName(name: string, { basePath }: CookieOptions): string {
  return `${basePath === "" ? "__Host" : "__Secure"}-lightdesk.${name}`;
}

export function getEmbedCookieName(slot: string, scope: CookieOptions): string {
  return getPartitionedCookieName(`embed.${slot}`, scope);
}

/** The cookie that detects whether the browser stores cookies in this frame. */
export function getProbeCookieName(slot: string, scope: CookieOptions): string {
  return getPartitionedCookieName(`probe.${slot}`, scope);
}

export function formatEmbedCookieAttributes({ basePath }: CookieOptions): string {
  return `Path=${basePath || "/"}; Secure; HttpOnly; SameSite=None; Partitioned`;
}
