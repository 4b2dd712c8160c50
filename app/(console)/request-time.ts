import { withTimeout } from "@/lib/shared/async";
import { failed, ok, type Result } from "@/lib/shared/result";

/** Converts a result for the screen and adds the time of its request. The browser shows the newer of this and its own. */
export async function withRequestTime<Answer, T, F>(
  pendingResult: Promise<Result<Answer, F>>,
  toValue: (response: Answer) => T,
): Promise<Result<{ value: T; atMs: number }, F>> {
  const atMs = Date.now();
  const result = await pendingResult;
  return result.ok ? ok({ value: toValue(result.value), atMs }) : failed(result.failure);
}

const MAX_UNNOTICED_WAIT_MS = 100;

/**
 * Whether a read is fast enough to need no skeleton. Its data is then part of the first paint. With a skeleton, React shows the data 300 ms
 * later and hydrates it after that.
 */
export function resolvesSoon(pendingResult: Promise<unknown>): Promise<boolean> {
  return withTimeout(
    pendingResult.then(() => true),
    MAX_UNNOTICED_WAIT_MS,
    () => false,
  );
}
