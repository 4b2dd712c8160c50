// The address of a service as it is stored. Paths of the interface, which all begin with /api, are appended to it.
// Guarantees: an address copied with its /api or with slashes at its end means the same service. So does one without a scheme: http on this
// machine, where services speak nothing else, https anywhere else. A stored address stays as it is.
// Must never: remove more than one /api, since a service may really live below one.

export function toBaseUrl(typed: string): string {
  return withoutSlash(withoutSlash(typed).replace(/\/api$/, ""));
}

/** True if the stored address differs from the typed one by more than a slash. */
export function endsWithApi(typed: string): boolean {
  return toBaseUrl(typed) !== withoutSlash(typed);
}

/** Adds the scheme that people leave out, as in "localhost:8188". An address with a scheme, or an empty one, stays as it is. */
export function withScheme(typed: string): string {
  if (typed === "" || /^[a-z][a-z0-9+.-]*:\/\//i.test(typed)) return typed;
  return `${/^(localhost|[\w.-]+\.localhost|127(\.\d+){3}|\[::1\])(?![\w.-])/i.test(typed) ? "http" : "https"}://${typed}`;
}

function withoutSlash(address: string): string {
  return address.replace(/\/+$/, "");
}
