import { useCallback, useEffect, useOptimistic, useRef, useTransition } from "react";
import { useRouter } from "@/components/ui/hooks/use-router";

/** Where a list is, and how to get to another place of it. */
export type ListState<Query> = {
  /** What was asked for last, even if its rows are still on their way. */
  query: Query;
  isMoving: boolean;
  hrefOf: (change: Partial<Query>) => string;
  /** The same function for as long as the page is there. */
  go: (change: Partial<Query>) => void;
};

/** The address is the state: a press changes it, and the controls show the press at once. A new question begins on its first page. */
export function useListState<Query extends { offset: number }>(query: Query, hrefFor: (query: Query) => string): ListState<Query> {
  const router = useRouter();
  const [isMoving, startTransition] = useTransition();
  const [shown, show] = useOptimistic(query);
  const changed = (change: Partial<Query>) => ({ ...shown, offset: 0, ...change });
  const hrefOf = (change: Partial<Query>) => hrefFor(changed(change));
  const latest = useRef({ changed, hrefOf });
  useEffect(() => {
    latest.current = { changed, hrefOf };
  });
  const go = useCallback(
    (change: Partial<Query>) =>
      startTransition(() => {
        show(latest.current.changed(change));
        router.push(latest.current.hrefOf(change));
      }),
    [router, show, startTransition],
  );
  return { query: shown, isMoving, hrefOf, go };
}
