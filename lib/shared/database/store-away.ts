// The store does not answer now; nothing is wrong with the request.

export class StoreAway extends Error {
  readonly code = "STORE_AWAY";
}

/** Compares the code, since the bundler loads this module several times. */
export function isStoreAway(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "STORE_AWAY";
}
