import { useSearchParams } from "next/navigation";
import { useEffect, useLayoutEffect, useState, useSyncExternalStore } from "react";
import { createStore } from "zustand/vanilla";
import { useRouter } from "@/components/ui/link";
import { toUrlWithParam } from "@/lib/browser/urls";
import { isAddressableId } from "@/lib/contract/params";

// Runs a slow task after the next paint, so that a click gets feedback first. Don't use it for writes.

function runAfterPaint(task: () => void): void {
  if (document.visibilityState === "hidden") return void setTimeout(task);
  // A new task, because style, layout and paint run after the frame's callbacks.
  requestAnimationFrame(() => setTimeout(task));
}

/** Writes a list's query to the URL. Must keep its identity while unchanged. */
export type ListAddress<Query> = {
  /** Must return the same key for the same list. */
  getKey: (query: Query) => string;
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
  isLoading: () => boolean;
  getHref: (change: Partial<Query>) => string;
  /** Requests another query from its first page. Consecutive typed changes share one entry of the browser's history. */
  navigate: (change: Partial<Query>, isTyped?: boolean) => void;
  /** Applies the query of the current URL after any navigation. */
  syncWithUrl: (query: Query, address: ListAddress<Query>) => void;
  /** Called when the rows of this list, or their failure, are shown. */
  markShown: (shownQuery: Query) => void;
};

export function createListState<Query extends { offset: number }>(
  initialQuery: NoInfer<Query>,
  initialAddress: ListAddress<Query>,
): ListState<Query> {
  const { getKey } = initialAddress;
  let urlState = { query: initialQuery, address: initialAddress };
  let requestedQuery: Query | undefined;
  /** The key of the list that is or will be in the URL. */
  let pushedKey = getKey(initialQuery);
  let shownKey = pushedKey;
  let isRequestedByUser = false;
  let isPushing = false;
  let wasLastChangeTyped = false;
  let isReplacing = false;
  const changes = createStore(() => 0);
  const notifyAll = () => changes.setState((count) => count + 1);
  const query = () => requestedQuery ?? urlState.query;
  const push = () => {
    isPushing = false;
    if (requestedQuery === undefined) return;
    const key = getKey(requestedQuery);
    if (key !== pushedKey) {
      pushedKey = key;
      return urlState.address.push(urlState.address.getHref(requestedQuery), isReplacing);
    }
    // The user switched back to the shown list within one frame.
    if (key !== getKey(urlState.query)) return;
    requestedQuery = undefined;
    isRequestedByUser = false;
    notifyAll();
  };
  return {
    subscribe: changes.subscribe,
    query,
    isLoading: () => getKey(query()) !== shownKey,
    getHref: (change) => urlState.address.getHref({ ...query(), offset: 0, ...change }),
    navigate(change, isTyped = false) {
      const nextQuery = { ...query(), offset: 0, ...change };
      if (getKey(nextQuery) === getKey(query())) return;
      isReplacing = isTyped && wasLastChangeTyped;
      wasLastChangeTyped = isTyped;
      requestedQuery = nextQuery;
      isRequestedByUser = true;
      notifyAll();
      if (!isPushing) runAfterPaint(push);
      isPushing = true;
    },
    syncWithUrl(urlQuery, address) {
      urlState = { query: requestedQuery && getKey(requestedQuery) === getKey(urlQuery) ? requestedQuery : urlQuery, address };
      // After Back or a link, typing starts a new history entry.
      if (getKey(urlQuery) !== pushedKey) wasLastChangeTyped = false;
      pushedKey = getKey(urlQuery);
      if (!isPushing) requestedQuery = undefined;
      notifyAll();
    },
    markShown(shownQuery) {
      const key = getKey(shownQuery);
      if (key === shownKey) return;
      shownKey = key;
      if (isRequestedByUser && key === getKey(query())) {
        isRequestedByUser = false;
        urlState.address.onShown?.();
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
  useLayoutEffect(() => state.syncWithUrl(query, address), [state, query, address]);
  useLayoutEffect(() => state.markShown(shownQuery), [state, shownQuery]);
  return state;
}

/** Returns one value of the newest requested query. Renders only when that value changes. */
export function useListField<Query, T extends Query | Query[keyof Query]>(state: ListState<Query>, pick: (query: Query) => T): T {
  const getValue = () => pick(state.query());
  return useSyncExternalStore(state.subscribe, getValue, getValue);
}

export function useIsNavigating<Query>(state: ListState<Query>): boolean {
  return useSyncExternalStore(state.subscribe, state.isLoading, state.isLoading);
}

/** Returns the newest requested query, even if its rows are still loading. */
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
  /** Reads the id from the URL again, after a navigation. */
  syncWithUrl: () => void;
};

function createOpenPanel(name: string, initialId: string | undefined): OpenPanel {
  const idStore = createStore(() => initialId);
  const setOpenId = (id: string | undefined) => idStore.setState(id, true);
  const readParam = () => new URL(window.location.href).searchParams.get(name) ?? undefined;
  return {
    subscribe: idStore.subscribe,
    get: idStore.getState,
    has: (id) => id === idStore.getState(),
    open(id) {
      if (!isAddressableId(id) || !window.matchMedia(MIN_PANEL_WIDTH).matches) return false;
      setOpenId(id);
      window.history[readParam() === undefined ? "pushState" : "replaceState"](null, "", toUrlWithParam(name, id));
      return true;
    },
    close() {
      setOpenId(undefined);
      window.history.pushState(null, "", toUrlWithParam(name, undefined));
    },
    syncWithUrl: () => setOpenId(readParam()),
  };
}

/** Opens the item in the URL parameter `name` in the panel, or its page on narrow screens. Makes no request. */
export function useOpenPanel(name: string, getPageHref: (id: string) => `/${string}`): OpenPanel {
  const router = useRouter();
  const id = useSearchParams()?.get(name) ?? undefined;
  const [panel] = useState(() => createOpenPanel(name, id));
  useEffect(() => panel.syncWithUrl(), [panel, id]);
  useEffect(() => {
    // A link from a wide screen opens the item's page on a narrow one.
    if (id !== undefined && !window.matchMedia(MIN_PANEL_WIDTH).matches) router.replace(getPageHref(id));
  }, [id, getPageHref, router]);
  return panel;
}

export function useOpenPanelId(openPanel: OpenPanel): string | undefined {
  return useSyncExternalStore(openPanel.subscribe, openPanel.get, openPanel.get);
}
