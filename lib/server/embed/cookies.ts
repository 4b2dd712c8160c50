// Cookies of embedded pages: one for each frame, sent only to the console and only below the host page it was made in. Imports nothing,
// because proxy.ts sets one too.
// Must never: be sent to other products on the host, if the console lives below a path.

import "server-only";

/** Browsers accept these prefixes only over https (or from this machine); `__Host` only for this very host and all of its paths. */
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
