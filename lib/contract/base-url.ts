// The address of a service as it is kept: what the paths of the interface, which all begin with /api, are put behind.
// Guarantees: an address that was copied with its /api, or with slashes at its end, means the same service, and so does one without its scheme:
// http on this machine, where services speak nothing else, https anywhere else. What is kept stays as it is.
// Must never: take more than one /api away, since a service may really live below one.

export function toBaseUrl(typed: string): string {
  return withoutSlash(withoutSlash(typed).replace(/\/api$/, ""));
}

/** True where what is kept is not what was typed, beyond a slash. */
export function endsWithApi(typed: string): boolean {
  return toBaseUrl(typed) !== withoutSlash(typed);
}

/** As people say an address: "localhost:8188". What names a scheme, or is empty, stays as it is. */
export function withScheme(typed: string): string {
  if (typed === "" || /^[a-z][a-z0-9+.-]*:\/\//i.test(typed)) return typed;
  return `${/^(localhost|[\w.-]+\.localhost|127(\.\d+){3}|\[::1\])(?![\w.-])/i.test(typed) ? "http" : "https"}://${typed}`;
}

function withoutSlash(address: string): string {
  return address.replace(/\/+$/, "");
}
