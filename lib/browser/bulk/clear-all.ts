// Clears the whole queue or the whole history of a connection.
// Guarantees: if the answer is lost, the remaining jobs are counted and reported. Must never: ask to clear a second time.

import { type JobsAnswer } from "@/lib/contract/schemas/job";
import { mayHaveStarted } from "@/lib/contract/workflow/submission";
import { ok, type Result } from "@/lib/shared/result";
import { callApi } from "../api";
import { type ApiFailure } from "../read-failure";

/** `left`: how many jobs remain after an answer was lost. */
export type Cleared<T> = { kind: "answered"; answer: T } | { kind: "lost"; left: number };

/** `leftPath`: lists what was to be cleared, one job a page. A failure is that of the clearing. */
export async function clearAll<T>(path: `/${string}`, leftPath: `/${string}`): Promise<Result<Cleared<T>, ApiFailure>> {
  const result = await callApi<T>(path, { method: "POST", json: { clear: true } });
  if (result.ok) return ok({ kind: "answered", answer: result.value });
  if (!isUnanswered(result.failure)) return result;
  const list = await callApi<JobsAnswer>(leftPath, { cache: "no-store" });
  return list.ok && list.value.pagination.total !== undefined ? ok({ kind: "lost", left: list.value.pagination.total }) : result;
}

/** The clearing may have happened anyway. */
export function isUnanswered(failure: ApiFailure): boolean {
  return failure.status === 0 || mayHaveStarted(failure);
}
