// Cookies of embedded pages: one for each frame, sent to the console alone and only below the host page that it was made in. Free of
// everything else: proxy.ts sets one too.
// Must never: go to what else a host serves beside a console that lives below a path.

import "server-only";

/** A browser takes a name like this over https (or from this machine) only, and the first kind for this very host and all of it alone. */
function named(name: string, basePath: string): string {
  return `${basePath === "" ? "__Host" : "__Secure"}-lightdesk.${name}`;
}

export function embedCookie(slot: string, basePath: string): string {
  return named(`embed.${slot}`, basePath);
}

/** Shows that the browser keeps cookies here at all. */
export function probeCookie(slot: string, basePath: string): string {
  return named(`probe.${slot}`, basePath);
}

export function embedCookieRules(basePath: string): string {
  return `Path=${basePath || "/"}; Secure; HttpOnly; SameSite=None; Partitioned`;
}
