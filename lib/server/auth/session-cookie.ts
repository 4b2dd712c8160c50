// The name of the session's cookie. Free of everything else: proxy.ts looks for it too.

import "server-only";

export const SESSION_COOKIE = "lightdesk.session";
/** Browsers accept a name with this prefix over https only, from this very host, and for all of its paths. */
const HOST_SESSION_COOKIE = "__Host-lightdesk.session";
/** Over https below a path: the other one would go to whatever else the host serves. */
const PATH_SESSION_COOKIE = "__Secure-lightdesk.session";
export const SESSION_COOKIES: readonly string[] = [SESSION_COOKIE, HOST_SESSION_COOKIE, PATH_SESSION_COOKIE];

export function isSecure(publicUrl: string | undefined): boolean {
  return publicUrl?.startsWith("https://") ?? false;
}

export function sessionCookieName({ publicUrl, basePath }: { publicUrl?: string; basePath: string }): string {
  if (!isSecure(publicUrl)) return SESSION_COOKIE;
  return basePath === "" ? HOST_SESSION_COOKIE : PATH_SESSION_COOKIE;
}
