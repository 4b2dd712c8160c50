// The store does not answer now; nothing is wrong with the request.

import { codeOf } from "../code-of";

export class StoreAway extends Error {
  readonly code = "STORE_AWAY";
}

/** Compares the code, since the bundler loads this module several times. */
export function isStoreAway(error: unknown): boolean {
  return codeOf(error) === "STORE_AWAY";
}
