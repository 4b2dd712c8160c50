// The name of the session's cookie. Free of everything else: proxy.ts looks for it too.

import "server-only";

export const SESSION_COOKIE = "lightdesk.session";
/** Browsers accept a name with this prefix over https only, from this very host, and for all of its paths. */
export const SECURE_SESSION_COOKIE = "__Host-lightdesk.session";

export function isSecure(publicUrl: string | undefined): boolean {
  return publicUrl?.startsWith("https://") ?? false;
}

export function sessionCookieName(publicUrl: string | undefined): string {
  return isSecure(publicUrl) ? SECURE_SESSION_COOKIE : SESSION_COOKIE;
}
