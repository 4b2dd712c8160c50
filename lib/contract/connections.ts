export function toBaseUrl(typed: string): string {
  return withoutSlash(withoutSlash(typed).replace(/\/api$/, ""));
}

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

export function isLoopback(hostname: string): boolean {
  return hostname === "localhost" || hostname === "[::1]" || /^127(\.\d{1,3}){3}$/.test(hostname);
}

/** `strange`: answers, but not with this interface; `failing`: fails by itself; `unpaid`: the account must pay. */
export const checkOutcomes = ["active", "waitlisted", "refused", "forbidden", "unpaid", "failing", "strange", "unreachable"] as const;
export type CheckOutcome = (typeof checkOutcomes)[number];
