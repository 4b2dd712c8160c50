import { useCallback, useEffect, useOptimistic, useRef, useTransition } from "react";
import { useRouter } from "@/components/ui/link";

/** The list's query, and ways to change it. */
export type ListState<Query> = {
  /** The newest request, even if its rows are still loading. */
  query: Query;
  isMoving: boolean;
  hrefOf: (change: Partial<Query>) => string;
  /** A stable function while the page is mounted. */
  go: (change: Partial<Query>) => void;
};

/** The address holds the state: a click changes it, and the controls show the click at once. A new query begins on its first page. */
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
