export type Result<T, F> = { ok: true; value: T } | { ok: false; failure: F };

export function ok<T>(value: T): { ok: true; value: T } {
  return { ok: true, value };
}

export function failed<F>(failure: F): { ok: false; failure: F } {
  return { ok: false, failure };
}

/** For callers such as SWR, which expect failures to be thrown. */
export function unwrapResult<T, F>(result: Result<T, F>): T {
  if (!result.ok) throw result.failure;
  return result.value;
}
