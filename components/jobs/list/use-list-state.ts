import { useSyncExternalStore } from "react";
import { type JobSearchQuery } from "@/lib/contract/console";
import { type ListState } from "./list-state";

/** One value of the newest requested list; renders only when that value changes. */
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

/** The newest requested list, even if its rows are still loading. */
export function useAskedQuery(state: ListState): JobSearchQuery {
  return useAsked(state, whole);
}
