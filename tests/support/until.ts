// Waits for something to become true by asking again and again, for a bounded time. Tests wait only this way.

/** The first value of `probe` that is not undefined, null or false. Fails naming `what` after `timeoutMs`. */
export async function until<T>(
  what: string,
  probe: () => T | Promise<T>,
  { timeoutMs = 45_000, everyMs = 20 }: { timeoutMs?: number; everyMs?: number } = {},
): Promise<Exclude<T, undefined | null | false>> {
  const deadline = Date.now() + timeoutMs;
  for (;;) {
    const value = await probe();
    if (isThere(value)) return value;
    if (Date.now() > deadline) throw new Error(`not in ${timeoutMs} ms: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, everyMs));
  }
}

function isThere<T>(value: T): value is Exclude<T, undefined | null | false> {
  return value !== undefined && value !== null && value !== false;
}
