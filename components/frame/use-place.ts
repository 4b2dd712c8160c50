"use client";

import { useRouter } from "next/navigation";
import { useOptimistic, useTransition } from "react";

/** Where a list stands, and how to get to another place of it. */
export type PlaceOf<Query> = {
  /** What was asked for last, even if its rows are still on their way. */
  query: Query;
  isMoving: boolean;
  hrefOf: (change: Partial<Query>) => string;
  go: (change: Partial<Query>) => void;
};

/** The address is the state: a press changes it, and the controls show the press at once. A new question begins on its first page. */
export function usePlace<Query extends { offset: number }>(query: Query, hrefFor: (query: Query) => string): PlaceOf<Query> {
  const router = useRouter();
  const [isMoving, startTransition] = useTransition();
  const [shown, show] = useOptimistic(query);
  const changed = (change: Partial<Query>) => ({ ...shown, offset: 0, ...change });
  const hrefOf = (change: Partial<Query>) => hrefFor(changed(change));
  return {
    query: shown,
    isMoving,
    hrefOf,
    go: (change) =>
      startTransition(() => {
        show(changed(change));
        router.push(hrefOf(change));
      }),
  };
}
