// The client's address. Our own HTTP server writes it, after removing what the client sent under that name.

import "server-only";

export const ADDRESS_HEADER = "x-lightdesk-address";

export function clientAddress(request: Request): string {
  return request.headers.get(ADDRESS_HEADER) ?? "unknown";
}
