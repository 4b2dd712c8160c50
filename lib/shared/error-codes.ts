const uniqueCodes = new Set<unknown>(["SQLITE_CONSTRAINT_UNIQUE", "SQLITE_CONSTRAINT_PRIMARYKEY", "23505"]);

export const isUniqueViolation = (error: unknown): boolean => uniqueCodes.has(codeOf(error));

export function codeOf(error: unknown): unknown {
  return error instanceof Error && "code" in error ? error.code : undefined;
}

/** SQLITE_IOERR_SHMSIZE: no room for the index of SQLite's log. */
const fullDiskCodes = new Set<unknown>(["ENOSPC", "EDQUOT", "SQLITE_FULL", "SQLITE_IOERR_SHMSIZE"]);

export const isFullDisk = (error: unknown): boolean => fullDiskCodes.has(codeOf(error));

export class StoreUnavailable extends Error {
  readonly code = "STORE_AWAY";
}

/** Compares the code, since the bundler loads this module several times. */
export function isStoreAway(error: unknown): boolean {
  return codeOf(error) === "STORE_AWAY";
}
