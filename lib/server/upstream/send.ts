// The port to a service: a request in, an answer out. Adapters: the embedded service's own fetch, and send-http.ts.
// Guarantees of an adapter: it follows no redirect, adds no Origin and no cookie, and streams both bodies.

import "server-only";

/** `onHead`: if one request needs several calls to the service, it is called at the head of each answer. */
export type Send = (request: Request, onHead?: () => void) => Promise<Response>;

/** The address of the service inside this process; it exists nowhere else. */
export const EMBEDDED_BASE_URL = "http://embedded.invalid";

export function isEmbedded(baseUrl: string): boolean {
  return URL.canParse(baseUrl) && new URL(baseUrl).origin === EMBEDDED_BASE_URL;
}
