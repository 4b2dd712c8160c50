const uniqueCodes = new Set<unknown>(["SQLITE_CONSTRAINT_UNIQUE", "SQLITE_CONSTRAINT_PRIMARYKEY", "23505"]);

export const isUniqueViolation = (error: unknown): boolean => uniqueCodes.has(getErrorCode(error));

export function getErrorCode(error: unknown): unknown {
  return error instanceof Error && "code" in error ? error.code : undefined;
}

/** SQLITE_IOERR_SHMSIZE: no space for the index of SQLite's log. */
const fullDiskCodes = new Set<unknown>(["ENOSPC", "EDQUOT", "SQLITE_FULL", "SQLITE_IOERR_SHMSIZE"]);

export const isFullDisk = (error: unknown): boolean => fullDiskCodes.has(getErrorCode(error));

export class StoreUnavailableError extends Error {
  readonly code = "STORE_AWAY";
}

/** Compares the code, because the bundler loads this module several times. */
export function isStoreUnavailable(error: unknown): boolean {
  return getErrorCode(error) === "STORE_AWAY";
}
