"use client";

import { useRouter } from "next/navigation";
import { useOptimistic, useTransition } from "react";
import { type JobsQuery } from "@/lib/contract/schemas/job";
import { jobsHref, type JobsPlace } from "./jobs-address";

export type JobsChange = Partial<JobsQuery>;
/** Where the list stands, and how to get to another place of it. */
export type Place = {
  /** What was asked for last, even if its rows are still on their way. */
  query: JobsQuery;
  isMoving: boolean;
  hrefOf: (change: JobsChange) => string;
  go: (change: JobsChange) => void;
};

/** The address is the state: a press changes it, and the controls show the press at once. A new question begins on its first page. */
export function useJobsPlace(query: JobsQuery, place: JobsPlace): Place {
  const router = useRouter();
  const [isMoving, startTransition] = useTransition();
  const [shown, show] = useOptimistic(query);
  const hrefOf = (change: JobsChange) => jobsHref(shown, { offset: 0, ...change, ...place });
  return {
    query: shown,
    isMoving,
    hrefOf,
    go: (change) => {
      const href = hrefOf(change);
      startTransition(() => {
        show({ ...shown, offset: 0, ...change });
        router.push(href);
      });
    },
  };
}
