const embedPathPattern = /^(?:\/[^/?#]+)*?(\/embed\/([\w-]{6,40})\/([a-z0-9]{8,40}))(?=[/?#]|$)/;
/** The header with the path for the server. It grants nothing without a credential. */
export const EMBED_PATH_HEADER = "x-lightdesk-embed-path";
const storeKey = Symbol.for("lightdesk.embed-paths");

export type EmbedAddress = { path: `/${string}`; host: string; slot: string };
type PathStore = { getStore(): string | undefined };

export function parseEmbedPath(address: string): (EmbedAddress & { innerUrl: string }) | undefined {
  const [match = "", path = "", host = "", slot = ""] = embedPathPattern.exec(address) ?? [];
  return path === "" ? undefined : { path: `/${path.slice(1)}`, host, slot, innerUrl: address.slice(match.length) };
}

export function getEmbedPath(): string {
  if (typeof window !== "undefined") return parseEmbedPath(window.location.pathname)?.path ?? "";
  const store: PathStore | undefined = Reflect.get(globalThis, storeKey);
  return store?.getStore() ?? "";
}

/** Adds the current page's embed path to a console URL. Returns other URLs unchanged. */
export function addEmbedPath(href: string): string {
  return href.startsWith("/") && !href.startsWith("//") && !href.startsWith("/embed/") ? `${getEmbedPath()}${href}` : href;
}

/** For the server. `store` contains the path of the current request. It is stored on globalThis, because several bundles read it. */
export function setEmbedPaths(store: PathStore): void {
  Reflect.set(globalThis, storeKey, store);
}

export function toSafeReturnPath(path: string | null | undefined): `/${string}` {
  if (!path || !path.startsWith("/") || /^\/[/\\]/.test(path) || /[\u0000-\u001f]/.test(path)) return "/";
  return path.startsWith("/sign-in") || path.startsWith("/api/") ? "/" : `/${path.slice(1)}`;
}
