import { failed, ok, type Result } from "@/lib/shared/result";

/** The screen's value of an answer, with the moment it was asked for: the browser shows the newer of this and its own. */
export async function stamp<Answer, T, F>(
  reading: Promise<Result<Answer, F>>,
  read: (answer: Answer) => T,
): Promise<Result<{ value: T; atMs: number }, F>> {
  const atMs = Date.now();
  const result = await reading;
  return result.ok ? ok({ value: read(result.value), atMs }) : failed(result.failure);
}
