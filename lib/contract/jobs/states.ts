// One set of job states for the whole console, read from the status words of every view.
// Guarantees: an unknown word is kept as `unknown`, never rejected and never terminal.
// Free of zod: it is part of the browser's first load.
// Source of the words: the public status tables of services that speak the interface (docs/interface.md).

export const jobStates = ["pending", "in_progress", "completed", "failed", "cancelled"] as const;
export type KnownJobState = (typeof jobStates)[number];
export type JobState = KnownJobState | "unknown";

const words: Readonly<Record<KnownJobState, readonly string[]>> = {
  pending: [
    "pending",
    "waiting_to_dispatch",
    "submitted",
    "queued_limited",
    "queued_waiting",
    "allocated",
    "preparing",
    "pending_execution",
  ],
  in_progress: ["in_progress", "executing", "executed", "erroring"],
  completed: ["completed", "success"],
  failed: ["failed", "error", "non_retryable_error", "lost", "retryable_error"],
  cancelled: ["cancelled", "canceled", "cancel_requested", "cancel_pending", "cancelling_preparing"],
};

const stateOfWord = new Map<string, KnownJobState>(jobStates.flatMap((state) => words[state].map((word) => [word, state] as const)));

/** Words of a terminal state whose job is still moving; `erroring` maps to in_progress and needs no entry. */
const stillMoving = new Set(["cancel_requested", "cancel_pending", "cancelling_preparing"]);

export function toJobState(word: string): JobState {
  return stateOfWord.get(word) ?? "unknown";
}

/** Decided by the raw word: `cancel_requested` is shown as cancelled but may still change. */
export function isTerminalWord(word: string): boolean {
  const state = stateOfWord.get(word);
  return (state === "completed" || state === "failed" || state === "cancelled") && !stillMoving.has(word);
}
