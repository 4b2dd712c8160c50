// Polls until a condition is true, for a limited time.

const MIN_PAUSE_MS = 5;
const MAX_PAUSE_MS = 80;

/**
 * Returns the first value of `probe` that is not undefined, null or false. Fails with `label` after `timeoutMs`. Long waits probe less often.
 */
export async function until<T>(
  label: string,
  probe: () => T | Promise<T>,
  { timeoutMs = 45_000, everyMs }: { timeoutMs?: number; everyMs?: number } = {},
): Promise<Exclude<T, undefined | null | false>> {
  const deadline = Date.now() + timeoutMs;
  for (let pauseMs = MIN_PAUSE_MS; ; pauseMs = Math.min(1.3 * pauseMs, MAX_PAUSE_MS)) {
    const value = await probe();
    if (hasValue(value)) return value;
    if (Date.now() > deadline) throw new Error(`not in ${timeoutMs} ms: ${label}`);
    await new Promise((resolve) => setTimeout(resolve, everyMs ?? pauseMs));
  }
}

function hasValue<T>(value: T): value is Exclude<T, undefined | null | false> {
  return value !== undefined && value !== null && value !== false;
}
