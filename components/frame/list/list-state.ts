import { useSearchParams } from "next/navigation";
import { useEffect, useLayoutEffect, useState, useSyncExternalStore } from "react";
import { createStore } from "zustand/vanilla";
import { useRouter } from "@/components/ui/link";
import { setSearchParam } from "@/lib/browser/urls";
import { isAddressableId } from "@/lib/contract/params";

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

/** Minimum width for a panel next to the list. */
const MIN_PANEL_WIDTH = "(min-width: 1024px)";

/** The item open in the panel. A store instead of React state, so that a click marks its row without rendering the list. */
export type OpenPanel = {
  subscribe: (listener: () => void) => () => void;
  get: () => string | undefined;
  has: (id: string) => boolean;
  /** Returns false if there is no space for a panel, or if the id can't be part of a URL. */
  open: (id: string) => boolean;
  close: () => void;
  /** Reads the URL again, which may have changed otherwise. */
  settle: () => void;
};

function createOpenPanel(name: string, first: string | undefined): OpenPanel {
  const storeApi = createStore(() => first);
  const setOpenId = (id: string | undefined) => storeApi.setState(id, true);
  const readParam = () => new URL(window.location.href).searchParams.get(name) ?? undefined;
  return {
    subscribe: storeApi.subscribe,
    get: storeApi.getState,
    has: (id) => id === storeApi.getState(),
    open(id) {
      if (!isAddressableId(id) || !window.matchMedia(MIN_PANEL_WIDTH).matches) return false;
      setOpenId(id);
      window.history[readParam() === undefined ? "pushState" : "replaceState"](null, "", setSearchParam(name, id));
      return true;
    },
    close() {
      setOpenId(undefined);
      window.history.pushState(null, "", setSearchParam(name, undefined));
    },
    settle: () => setOpenId(readParam()),
  };
}

/** Opens the item in the URL parameter `name` in the panel, or its page on narrow screens. Makes no request. */
export function useOpenPanel(name: string, getPageHref: (id: string) => `/${string}`): OpenPanel {
  const router = useRouter();
  const id = useSearchParams()?.get(name) ?? undefined;
  const [panel] = useState(() => createOpenPanel(name, id));
  useEffect(() => panel.settle(), [panel, id]);
  useEffect(() => {
    // A link from a wide screen opens the item's page on a narrow one.
    if (id !== undefined && !window.matchMedia(MIN_PANEL_WIDTH).matches) router.replace(getPageHref(id));
  }, [id, getPageHref, router]);
  return panel;
}

export function useOpenPanelId(openPanel: OpenPanel): string | undefined {
  return useSyncExternalStore(openPanel.subscribe, openPanel.get, openPanel.get);
}
