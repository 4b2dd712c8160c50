// The path below which a server shares its host with others (LIGHTDESK_BASE_PATH). Some reverse proxies pass it on, others remove it.
// Guarantees: inside the server no address has it, whatever the proxy does; it is removed once and added once.
// Must never: remove a path that only begins with the same letters, or a second base path after the first.

export function withoutBasePath(url: string, basePath: string): string {
  if (basePath === "" || !url.startsWith(basePath)) return url;
  const rest = url.slice(basePath.length);
  if (rest === "" || rest.startsWith("?") || rest.startsWith("#")) return `/${rest}`;
  return rest.startsWith("/") ? rest : url;
}

/** For Next, which wants the base path in every address, without a slash after it: otherwise Next and some proxies would redirect. */
export function withBasePath(url: string, basePath: string): string {
  return basePath !== "" && /^\/([?#]|$)/.test(url) ? basePath + url.slice(1) : basePath + url;
}
