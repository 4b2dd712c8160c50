// Whether a changing request comes from our own pages.
// Guarantees: a browser's request from another site is refused, whichever of the two headers it sends. A request without both headers does
// not come from a browser of this decade, and carries only cookies it was given on purpose.
// Must never: look at request.url, which holds the address that the server is bound to.

import "server-only";

export function isSameOrigin(request: Pick<Request, "headers">, publicUrl: string | undefined): boolean {
  const site = request.headers.get("sec-fetch-site");
  if (site !== null && site !== "same-origin" && site !== "none") return false;
  const origin = request.headers.get("origin");
  if (origin === null) return true;
  if (!URL.canParse(origin)) return false;
  const from = new URL(origin);
  if (publicUrl !== undefined && from.origin === new URL(publicUrl).origin) return true;
  // If the public address is https, a page opened over plain http is another origin.
  return from.host === request.headers.get("host") && (publicUrl === undefined || from.protocol === new URL(publicUrl).protocol);
}
