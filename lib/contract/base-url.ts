// The address of a service as it is kept: what the paths of the interface, which all begin with /api, are put behind.
// Guarantees: an address that was copied with its /api, or with slashes at its end, means the same service; what is kept stays as it is.
// Must never: take more than one /api away, since a service may really live below one.

export function toBaseUrl(typed: string): string {
  return withoutSlash(withoutSlash(typed).replace(/\/api$/, ""));
}

/** True where what is kept is not what was typed, beyond a slash. */
export function endsWithApi(typed: string): boolean {
  return toBaseUrl(typed) !== withoutSlash(typed);
}

function withoutSlash(address: string): string {
  return address.replace(/\/+$/, "");
}
