// The path below which a server shares its host with others (LIGHTDESK_BASE_PATH). One reverse proxy passes it on, another takes it off.
// Guarantees: inside the server an address has none, whichever the proxy does; it is taken off once and put on once.
// Must never: take off what only begins with the same letters, or a second one behind the first.

export function withoutBasePath(url: string, basePath: string): string {
  if (basePath === "" || !url.startsWith(basePath)) return url;
  const rest = url.slice(basePath.length);
  if (rest === "" || rest.startsWith("?") || rest.startsWith("#")) return `/${rest}`;
  return rest.startsWith("/") ? rest : url;
}

/** For Next, which has it in every address and none with a slash behind it: it would answer with a redirect, and some proxies with one back. */
export function withBasePath(url: string, basePath: string): string {
  return basePath !== "" && /^\/([?#]|$)/.test(url) ? basePath + url.slice(1) : basePath + url;
}
