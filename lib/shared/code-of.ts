// The code that Node and libraries put on an error: "ENOENT", "SQLITE_BUSY".

export function codeOf(error: unknown): unknown {
  return error instanceof Error && "code" in error ? error.code : undefined;
}
