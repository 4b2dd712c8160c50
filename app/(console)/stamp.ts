import { withTimeout } from "@/lib/shared/async";
import { failed, ok, type Result } from "@/lib/shared/result";

/** The screen's value from an answer, with the moment it was requested: the browser shows the newer of this and its own. */
export async function stamp<Answer, T, F>(
  reading: Promise<Result<Answer, F>>,
  read: (answer: Answer) => T,
): Promise<Result<{ value: T; atMs: number }, F>> {
  const atMs = Date.now();
  const result = await reading;
  return result.ok ? ok({ value: read(result.value), atMs }) : failed(result.failure);
}

const SOON_MS = 100;

/**
 * Whether a read ends before anyone notices the wait. The page then needs no skeleton, and its data is in the first paint; behind a
 * skeleton React shows it 300 ms later, and hydrates it after that.
 */
export function endsSoon(reading: Promise<unknown>): Promise<boolean> {
  return withTimeout(
    reading.then(() => true),
    SOON_MS,
    () => false,
  );
}
