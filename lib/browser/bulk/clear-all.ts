// Clears the whole queue or the whole history of a connection.
// Guarantees: where the answer was lost, what is left is counted, and told. Must never: ask for it a second time.

import { mayHaveStarted } from "@/lib/contract/workflow/submission";
import { type JobsAnswer } from "@/lib/contract/schemas/job";
import { ok, type Result } from "@/lib/shared/result";
import { callApi } from "../api";
import { type ApiFailure } from "../read-failure";

/** `left`: so many are there after an answer that was lost. */
export type Cleared<T> = { kind: "told"; answer: T } | { kind: "lost"; left: number };

/** `leftPath`: the list of those that were meant, one of them. A failure is that of the clearing. */
export async function clearAll<T>(path: `/${string}`, leftPath: `/${string}`): Promise<Result<Cleared<T>, ApiFailure>> {
  const result = await callApi<T>(path, { method: "POST", json: { clear: true } });
  if (result.ok) return ok({ kind: "told", answer: result.value });
  if (!isUnanswered(result.failure)) return result;
  const list = await callApi<JobsAnswer>(leftPath, { cache: "no-store" });
  return list.ok && list.value.pagination.total !== undefined ? ok({ kind: "lost", left: list.value.pagination.total }) : result;
}

/** It may have been done anyway. */
export function isUnanswered(failure: ApiFailure): boolean {
  return failure.status === 0 || mayHaveStarted(failure);
}
