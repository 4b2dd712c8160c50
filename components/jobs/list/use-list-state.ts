import { useSyncExternalStore } from "react";
import { type JobSearchQuery } from "@/lib/contract/jobs/console-job-search";
import { type ListState } from "./list-state";

/** One value of the list that was asked for last; draws only when that value changes. */
export function useAsked<T extends JobSearchQuery | JobSearchQuery[keyof JobSearchQuery]>(
  state: ListState,
  pick: (query: JobSearchQuery) => T,
): T {
  const read = () => pick(state.query());
  return useSyncExternalStore(state.subscribe, read, read);
}

export function useMoving(state: ListState): boolean {
  return useSyncExternalStore(state.subscribe, state.isMoving, state.isMoving);
}

const whole = (query: JobSearchQuery) => query;

/** What was asked for last, even if its rows are still on their way. */
export function useAskedQuery(state: ListState): JobSearchQuery {
  return useAsked(state, whole);
}
