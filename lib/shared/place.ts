// Below which address a page of the console is: none, or that of an embedded session, `/embed/HOST/SLOT`. What such a page links to and
// asks for stays below it, so that two sessions on one host page never meet.
// Guarantees: in a browser it is read off the page's own address; on the server it is that of the request being answered (keepPlaces).
// Must never: be taken for a right. It names a session; a credential opens it.

const pattern = /^(?:\/[^/?#]+)*?(\/embed\/([\w-]{6,40})\/([a-z0-9]{8,40}))(?=[/?#]|$)/;
/** In which the server is told of it; empty of meaning without a credential. */
export const PLACE_HEADER = "x-lightdesk-place";
const keeper = Symbol.for("lightdesk.places");

export type Place = { path: `/${string}`; host: string; slot: string };
type Keeper = { getStore(): string | undefined };

/** The place that an address is below, with what follows it; a base path may come before. */
export function placeOf(address: string): (Place & { rest: string }) | undefined {
  const [whole = "", path = "", host = "", slot = ""] = pattern.exec(address) ?? [];
  return path === "" ? undefined : { path: `/${path.slice(1)}`, host, slot, rest: address.slice(whole.length) };
}

/** Empty outside of an embedded page. */
export function place(): string {
  if (typeof window !== "undefined") return placeOf(window.location.pathname)?.path ?? "";
  const kept: Keeper | undefined = Reflect.get(globalThis, keeper);
  return kept?.getStore() ?? "";
}

/** An address of the console as it is written in the page; others stay as they are. */
export function inPlace(href: string): string {
  return href.startsWith("/") && !href.startsWith("//") && !href.startsWith("/embed/") ? `${place()}${href}` : href;
}

/** For the server that answers requests: `keeper` tells the place of the one that is being answered. On globalThis, since several bundles ask. */
export function keepPlaces(kept: Keeper): void {
  Reflect.set(globalThis, keeper, kept);
}
