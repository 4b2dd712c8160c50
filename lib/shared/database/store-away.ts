// A store that does not answer now: nothing is wrong with what was asked.

export class StoreAway extends Error {
  readonly code = "STORE_AWAY";
}

/** By its code: the bundler loads this module several times. */
export function isStoreAway(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "STORE_AWAY";
}
