import { type Trouble } from "./run-state";
import { type UnknownActs } from "./unknown-note";
import { type useRun } from "./use-run";

/** What a person can do about a run that may or may not have arrived. */
export function unknownActs(run: ReturnType<typeof useRun>, trouble: Trouble | undefined): UnknownActs {
  const attempt = trouble?.attempt;
  return { onLookAgain: () => void (attempt && run.askAfter(attempt)), onLeave: run.leaveTrouble };
}
