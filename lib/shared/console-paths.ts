const pattern = /^(?:\/[^/?#]+)*?(\/embed\/([\w-]{6,40})\/([a-z0-9]{8,40}))(?=[/?#]|$)/;
/** The header that tells the server the path; it means nothing without a credential. */
export const EMBED_PATH_HEADER = "x-lightdesk-embed-path";
const keeper = Symbol.for("lightdesk.embed-paths");

export type EmbedAddress = { path: `/${string}`; host: string; slot: string };
type Keeper = { getStore(): string | undefined };

export function embedAddressOf(address: string): (EmbedAddress & { rest: string }) | undefined {
  const [whole = "", path = "", host = "", slot = ""] = pattern.exec(address) ?? [];
  return path === "" ? undefined : { path: `/${path.slice(1)}`, host, slot, rest: address.slice(whole.length) };
}

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

export function safeReturn(wanted: string | null | undefined): `/${string}` {
  if (!wanted || !wanted.startsWith("/") || /^\/[/\\]/.test(wanted) || /[\u0000-\u001f]/.test(wanted)) return "/";
  return wanted.startsWith("/sign-in") || wanted.startsWith("/api/") ? "/" : `/${wanted.slice(1)}`;
}
