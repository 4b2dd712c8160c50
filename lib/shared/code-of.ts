// The code that Node and libraries put on an error: "ENOENT", "SQLITE_BUSY".

/** Unique constraint violation: the error codes of the two databases. */
const uniqueCodes = new Set<unknown>(["SQLITE_CONSTRAINT_UNIQUE", "SQLITE_CONSTRAINT_PRIMARYKEY", "23505"]);

export const isUniqueViolation = (error: unknown): boolean => uniqueCodes.has(codeOf(error));

export function codeOf(error: unknown): unknown {
  return error instanceof Error && "code" in error ? error.code : undefined;
}
