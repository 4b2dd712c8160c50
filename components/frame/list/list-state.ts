import { useLayoutEffect, useState, useSyncExternalStore } from "react";
import { createStore } from "zustand/vanilla";

// Runs slow work after the next paint, so that a click gets feedback first. Don't use it for writes.

function afterPaint(work: () => void): void {
  if (document.visibilityState === "hidden") return void setTimeout(work);
  // A new task, because style, layout and paint run after the frame's callbacks.
  requestAnimationFrame(() => setTimeout(work));
}

/** How a list's query is written to the URL. Must keep its identity while unchanged. */
export type ListAddress<Query> = {
  /** The same list always has the same key. */
  keyOf: (query: Query) => string;
  getHref: (query: Query) => `/${string}`;
  /** `isReplacing`: replaces the last entry of the browser's history. */
  push: (href: `/${string}`, isReplacing: boolean) => void;
  /** Called when the rows of the requested list are shown. */
  onShown?: () => void;
};

/**
 * The last requested list, stored outside React's state, so that a click first renders only the controls that show it. The URL, the request
 * and the rows are updated after that frame.
 */
export type ListState<Query> = {
  subscribe: (listener: () => void) => () => void;
  query: () => Query;
  isMoving: () => boolean;
  getHref: (change: Partial<Query>) => string;
  /** Requests another query from its first page. Continued typing is one entry of the browser's history. */
  go: (change: Partial<Query>, isTyped?: boolean) => void;
  /** Adopts the current URL, however it changed. */
  follow: (query: Query, address: ListAddress<Query>) => void;
  /** Called when the rows of this list, or their failure, are shown. */
  show: (response: Query) => void;
};

export function createListState<Query extends { offset: number }>(
  first: NoInfer<Query>,
  firstAddress: ListAddress<Query>,
): ListState<Query> {
  const { keyOf } = firstAddress;
  let current = { query: first, address: firstAddress };
  let lastQuery: Query | undefined;
  /** The key of the list that is or will be in the URL. */
  let pushedKey = keyOf(first);
  let shownKey = pushedKey;
  let isPressed = false;
  let isPushing = false;
  let wasTyped = false;
  let isReplacing = false;
  const changes = createStore(() => 0);
  const notifyAll = () => changes.setState((count) => count + 1);
  const query = () => lastQuery ?? current.query;
  const push = () => {
    isPushing = false;
    if (lastQuery === undefined) return;
    const key = keyOf(lastQuery);
    if (key !== pushedKey) {
      pushedKey = key;
      return current.address.push(current.address.getHref(lastQuery), isReplacing);
    }
    // The user switched back to the shown list within one frame.
    if (key !== keyOf(current.query)) return;
    lastQuery = undefined;
    isPressed = false;
    notifyAll();
  };
  return {
    subscribe: changes.subscribe,
    query,
    isMoving: () => keyOf(query()) !== shownKey,
    getHref: (change) => current.address.getHref({ ...query(), offset: 0, ...change }),
    go(change, isTyped = false) {
      const next = { ...query(), offset: 0, ...change };
      if (keyOf(next) === keyOf(query())) return;
      isReplacing = isTyped && wasTyped;
      wasTyped = isTyped;
      lastQuery = next;
      isPressed = true;
      notifyAll();
      if (!isPushing) afterPaint(push);
      isPushing = true;
    },
    follow(addressed, address) {
      current = { query: lastQuery && keyOf(lastQuery) === keyOf(addressed) ? lastQuery : addressed, address };
      // After Back or a link, typing starts a new history entry.
      if (keyOf(addressed) !== pushedKey) wasTyped = false;
      pushedKey = keyOf(addressed);
      if (!isPushing) lastQuery = undefined;
      notifyAll();
    },
    show(response) {
      const key = keyOf(response);
      if (key === shownKey) return;
      shownKey = key;
      if (isPressed && key === keyOf(query())) {
        isPressed = false;
        current.address.onShown?.();
      }
      notifyAll();
    },
  };
}

/** `shownQuery`: the query whose rows are shown. */
export function useListState<Query extends { offset: number }>(
  query: Query,
  address: ListAddress<Query>,
  shownQuery = query,
): ListState<Query> {
  const [state] = useState(() => createListState(query, address));
  useLayoutEffect(() => state.follow(query, address), [state, query, address]);
  useLayoutEffect(() => state.show(shownQuery), [state, shownQuery]);
  return state;
}

/** One value of the newest requested list; renders only when that value changes. */
export function useListField<Query, T extends Query | Query[keyof Query]>(state: ListState<Query>, pick: (query: Query) => T): T {
  const getValue = () => pick(state.query());
  return useSyncExternalStore(state.subscribe, getValue, getValue);
}

export function useIsNavigating<Query>(state: ListState<Query>): boolean {
  return useSyncExternalStore(state.subscribe, state.isMoving, state.isMoving);
}

/** The newest requested list, even if its rows are still loading. */
export function useListQuery<Query>(state: ListState<Query>): Query {
  return useSyncExternalStore(state.subscribe, state.query, state.query);
}
