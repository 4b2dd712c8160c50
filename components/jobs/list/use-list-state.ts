"use client";

import { useLayoutEffect, useState, useSyncExternalStore } from "react";
import { type JobSearchQuery } from "@/lib/contract/console-job-search";
import { type JobsLinks } from "./list-address";
import { createJobsPlace, type JobsChange, type JobsPlace } from "./list-state";

/** Where the list stands, for the controls that show it. */
export type Place = {
  /** What was asked for last, even if its rows are still on their way. */
  query: JobSearchQuery;
  isMoving: boolean;
  hrefOf: (change: JobsChange) => string;
  go: (change: JobsChange, isTyped?: boolean) => void;
};

/** `question` is the address's; `shown` is the one whose rows stand on the page. */
export function useJobsPlace(question: JobSearchQuery, shown: JobSearchQuery, { connection, view }: JobsLinks): JobsPlace {
  const [place] = useState(() => createJobsPlace(question, { connection, view }));
  useLayoutEffect(() => place.settle(question, { connection, view }), [place, question, connection, view]);
  useLayoutEffect(() => place.arrive(shown), [place, shown]);
  return place;
}

/** One thing about what was asked for last: draws only where that changes. */
export function useAsked<T extends JobSearchQuery | JobSearchQuery[keyof JobSearchQuery]>(
  place: JobsPlace,
  pick: (query: JobSearchQuery) => T,
): T {
  const read = () => pick(place.query());
  return useSyncExternalStore(place.subscribe, read, read);
}

export function useMoving(place: JobsPlace): boolean {
  return useSyncExternalStore(place.subscribe, place.isMoving, place.isMoving);
}

const whole = (query: JobSearchQuery) => query;

export function usePlaceOf(place: JobsPlace): Place {
  return { query: useAsked(place, whole), isMoving: useMoving(place), hrefOf: place.hrefOf, go: place.go };
}
