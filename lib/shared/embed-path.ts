// The address prefix of a page of the console: none, or that of an embedded session, `/embed/HOST/SLOT`. Links and requests of such a page
// stay below it, so that two sessions on one host page stay apart.
// Guarantees: a browser reads it from the page's own address; on the server it belongs to the request being answered (keepEmbedPaths).
// Must never: be taken for a right. It only names a session; a credential opens it.

const pattern = /^(?:\/[^/?#]+)*?(\/embed\/([\w-]{6,40})\/([a-z0-9]{8,40}))(?=[/?#]|$)/;
/** The header that tells the server the path; it means nothing without a credential. */
export const EMBED_PATH_HEADER = "x-lightdesk-embed-path";
const keeper = Symbol.for("lightdesk.embed-paths");

export type EmbedAddress = { path: `/${string}`; host: string; slot: string };
type Keeper = { getStore(): string | undefined };

/** The session's part at the start of an address, and the rest after it; a base path may come before. */
export function embedAddressOf(address: string): (EmbedAddress & { rest: string }) | undefined {
  const [whole = "", path = "", host = "", slot = ""] = pattern.exec(address) ?? [];
  return path === "" ? undefined : { path: `/${path.slice(1)}`, host, slot, rest: address.slice(whole.length) };
}

/** Empty outside an embedded page. */
export function embedPath(): string {
  if (typeof window !== "undefined") return embedAddressOf(window.location.pathname)?.path ?? "";
  const kept: Keeper | undefined = Reflect.get(globalThis, keeper);
  return kept?.getStore() ?? "";
}

/** An address of the console as it is written into the page; other addresses stay as they are. */
export function inEmbedPath(href: string): string {
  return href.startsWith("/") && !href.startsWith("//") && !href.startsWith("/embed/") ? `${embedPath()}${href}` : href;
}

/** For the server: `keeper` knows the path of the request being answered. Kept on globalThis, since several bundles read it. */
export function keepEmbedPaths(kept: Keeper): void {
  Reflect.set(globalThis, keeper, kept);
}
