const pattern = /^(?:\/[^/?#]+)*?(\/embed\/([\w-]{6,40})\/([a-z0-9]{8,40}))(?=[/?#]|$)/;
/** The header with the path for the server; useless without a credential. */
export const EMBED_PATH_HEADER = "x-lightdesk-embed-path";
const keeper = Symbol.for("lightdesk.embed-paths");

export type EmbedAddress = { path: `/${string}`; host: string; slot: string };
type PathStore = { getStore(): string | undefined };

export function embedAddressOf(address: string): (EmbedAddress & { rest: string }) | undefined {
  const [whole = "", path = "", host = "", slot = ""] = pattern.exec(address) ?? [];
  return path === "" ? undefined : { path: `/${path.slice(1)}`, host, slot, rest: address.slice(whole.length) };
}

export function embedPath(): string {
  if (typeof window !== "undefined") return embedAddressOf(window.location.pathname)?.path ?? "";
  const storedKeeper: PathStore | undefined = Reflect.get(globalThis, keeper);
  return storedKeeper?.getStore() ?? "";
}

/** An address of the console as it is written into the page; other addresses stay as they are. */
export function inEmbedPath(href: string): string {
  return href.startsWith("/") && !href.startsWith("//") && !href.startsWith("/embed/") ? `${embedPath()}${href}` : href;
}

/** For the server: `keeper` knows the path of the request being answered. Kept on globalThis, since several bundles read it. */
export function setEmbedPaths(newKeeper: PathStore): void {
  Reflect.set(globalThis, keeper, newKeeper);
}

export function safeReturn(path: string | null | undefined): `/${string}` {
  if (!path || !path.startsWith("/") || /^\/[/\\]/.test(path) || /[\u0000-\u001f]/.test(path)) return "/";
  return path.startsWith("/sign-in") || path.startsWith("/api/") ? "/" : `/${path.slice(1)}`;
}
