import { startTransition, useEffect, useMemo, useState, useSyncExternalStore } from "react";
import { isAtTop as isPageAtTop, reuseRows, subscribeToTop, usePausedRows } from "@/components/data-table/paused-rows";
import { getHistoryState } from "@/components/viewer/use-viewing";
import { type TimedValue, toInitialOptions, useLive } from "@/lib/browser/live/use-live";
import { type Failure } from "@/lib/contract/failure";
import { type AssetsQuery } from "@/lib/contract/schemas/asset";
import { type AssetView } from "@/lib/contract/views/asset-view";
import { type Result } from "@/lib/shared/result";
import { fetchAssets } from "../asset-api";
import { type AssetPage, getAssetsApiPath, getListKey, isNewestFirst, toAssetPage } from "../assets-urls";
import { ASSETS_PER_CHUNK, type AssetsSource, type ChunkStore, createChunkStore } from "./chunk-store";

// Caches the rows of the last few lists, so that going back shows them immediately.
// Must never cache on the server, which is shared by all members.
type CachedStore = { store: ChunkStore; atMs: number };
const MAX_CACHED_LISTS = 3;
const storesByKey = new Map<string, CachedStore>();

function getCachedStore(key: string): CachedStore | undefined {
  return storesByKey.get(key);
}

function cacheStore(key: string, entry: CachedStore): void {
  if (typeof window === "undefined") return;
  storesByKey.delete(key);
  storesByKey.set(key, entry);
  for (const oldestKey of [...storesByKey.keys()].slice(0, -MAX_CACHED_LISTS)) storesByKey.delete(oldestKey);
}

type EndlessOptions = {
  query: AssetsQuery;
  connectionId: string | undefined;
  initialResult: Result<TimedValue<AssetPage>, Failure>;
  isEnabled: boolean;
};

/** Loads the whole list in chunks around the viewport. The top updates live, and new rows stay hidden until the user scrolls to the top. */
export function useEndlessAssets({ query, connectionId, initialResult, isEnabled }: EndlessOptions): AssetsSource {
  const listKey = getListKey(query);
  const store = useChunkStore(listKey, { query, connectionId, initialResult, isEnabled });
  const version = useStoreVersion(store);
  const path = connectionId && isEnabled ? getAssetsApiPath({ ...query, offset: 0, limit: ASSETS_PER_CHUNK }, connectionId) : undefined;
  const live = useLive(path, { ...(isEnabled && query.offset === 0 && toInitialOptions(initialResult)), read: toAssetPage });
  const isAtTop = useSyncExternalStore(subscribeToTop, isPageAtTop, () => true);
  const latestPage = live.value;
  const hasChanged = latestPage !== undefined && isEnabled && hasDifferentRows(store, latestPage);
  useEffect(() => {
    if (!latestPage || !isEnabled) return;
    // If the list had failed to load, these are its first rows.
    if (store.getLoadedChunkCount() === 0) store.replaceList(latestPage);
    else if (hasChanged && (isAtTop || store.getCount() === 0)) store.replaceList(latestPage);
    else if (!hasChanged) patchChangedRows(store, latestPage);
    // The service responds again, so failed visible chunks are reloaded.
    if (store.getFailure()) store.refresh();
  }, [latestPage, hasChanged, isAtTop, isEnabled, store]);

  const newCount = hasChanged && !isAtTop ? countNewRows(store, latestPage) : 0;
  const total = latestPage?.total ?? store.getTotal();
  const initialFailure = initialResult.ok ? undefined : initialResult.failure;
  const { atMs, refresh } = live;
  const failure = store.getFailure() ?? live.failure ?? (store.getLoadedChunkCount() === 0 ? initialFailure : undefined);
  return useMemo(
    () => ({
      version,
      count: store.getCount(),
      total,
      at: store.at,
      indexOf: store.indexOf,
      getRows: store.getRows,
      loadRange: store.loadRange,
      request: store.request,
      newCount,
      failure,
      unreadable: latestPage?.unreadable,
      atMs,
      refresh: () => {
        store.refresh();
        void refresh();
      },
      patch: store.patch,
      offset: 0,
      isEmpty: store.getLoadedChunkCount() === 0,
    }),
    [version, store, total, newCount, failure, latestPage?.unreadable, atMs, refresh],
  );
}

/** Updates in a transition, since hundreds of rows may arrive during scrolling. */
function useStoreVersion(store: ChunkStore): number {
  const [version, setVersion] = useState(store.getVersion);
  useEffect(() => {
    const updateVersion = () => startTransition(() => setVersion(store.getVersion()));
    updateVersion();
    return store.subscribe(updateVersion);
  }, [store]);
  return version;
}

function useChunkStore(listKey: string, { query, connectionId, initialResult, isEnabled }: EndlessOptions): ChunkStore {
  const key = `${connectionId ?? ""} ${listKey}`;
  const store = useMemo(() => {
    const readRange = (range: { offset: number; limit: number }, signal: AbortSignal) =>
      fetchAssets({ query, connectionId }, range, signal);
    const store = getCachedStore(key)?.store ?? createChunkStore(readRange, { hidesNewRows: isNewestFirst(query) });
    if (isEnabled && initialResult.ok && store.getLoadedChunkCount() === 0) store.seed(initialResult.value.value, query.offset);
    return store;
    // eslint-disable-next-line react-hooks/exhaustive-deps -- the key identifies the list; a later response is added below
  }, [key, isEnabled]);
  useEffect(() => {
    if (!isEnabled) return;
    const cachedStore = getCachedStore(key);
    const atMs = initialResult.ok ? initialResult.value.atMs : 0;
    if (cachedStore && initialResult.ok && atMs > cachedStore.atMs) store.replaceList(initialResult.value.value, query.offset);
    cacheStore(key, { store, atMs: Math.max(atMs, cachedStore?.atMs ?? 0) });
    // eslint-disable-next-line react-hooks/exhaustive-deps -- the key identifies the list
  }, [key, initialResult, isEnabled, store]);
  return store;
}

function hasDifferentRows(store: ChunkStore, page: AssetPage): boolean {
  if (page.total !== undefined && store.getTotal() !== undefined && page.total !== store.getTotal()) return true;
  return page.assets.some(({ id }, index) => {
    const loadedAsset = store.at(index);
    return loadedAsset !== undefined && loadedAsset.id !== id;
  });
}

function countNewRows(store: ChunkStore, page: AssetPage): number {
  const total = store.getTotal();
  if (page.total !== undefined && total !== undefined) return Math.max(0, page.total - total);
  return page.assets.filter(({ id }) => store.indexOf(id) < 0).length;
}

function patchChangedRows(store: ChunkStore, page: AssetPage): void {
  const previousRows = page.assets.flatMap((_, index) => store.at(index) ?? []);
  const previousAssets = new Set(previousRows);
  for (const asset of reuseRows(previousRows, page.assets)) if (!previousAssets.has(asset)) store.patch(asset.id, () => asset);
}

type PagedOptions = {
  query: AssetsQuery;
  connectionId: string | undefined;
  initialResult: Result<TimedValue<AssetPage>, Failure>;
  isEnabled: boolean;
};

const noAssets: AssetView[] = [];

/** One page of the list, kept current by live updates. */
export function usePagedAssets({
  query,
  connectionId,
  initialResult,
  isEnabled,
}: PagedOptions): AssetsSource & { hasMore: boolean | undefined } {
  const path = connectionId && isEnabled ? getAssetsApiPath(query, connectionId) : undefined;
  const live = useLive(path, { ...(isEnabled && toInitialOptions(initialResult)), read: toAssetPage });
  const page = live.value;
  const viewKey = `${getListKey(query)} ${query.offset} ${query.limit}`;
  const { rows, newCount } = usePausedRows(viewKey, page?.assets ?? noAssets, { total: page?.total, isAlwaysPaused: query.offset > 0 });
  const { failure, atMs, refresh, patch } = live;
  return useMemo(
    () => ({
      version: atMs ?? 0,
      count: rows.length,
      total: page?.total,
      hasMore: page?.hasMore,
      at: (index) => rows[index],
      indexOf: (id) => rows.findIndex((asset) => asset.id === id),
      getRows: () => rows,
      loadRange: (from, to) => Promise.resolve(rows.slice(from, to)),
      request: () => undefined,
      newCount,
      failure,
      unreadable: page?.unreadable,
      atMs,
      refresh: () => void refresh(),
      patch: (id, change) =>
        patch((current) => ({ ...current, assets: current.assets.map((asset) => (asset.id === id ? change(asset) : asset)) })),
      offset: query.offset,
      isEmpty: page === undefined,
    }),
    [rows, newCount, page, failure, atMs, refresh, patch, query.offset],
  );
}

type Page = Pick<AssetsSource, "at" | "indexOf" | "count" | "total">;

/** Combines a page with its whole list, so that the viewer continues beyond the page. Indexes count from the list's first row. */
export function combinePageWithList(page: Page, offset: number, list: AssetsSource): AssetsSource {
  return {
    ...list,
    // Without a total, the list ends with the page.
    count: page.total ?? offset + page.count,
    at: (index) => page.at(index - offset) ?? list.at(index),
    indexOf(id) {
      const currentIndex = page.indexOf(id);
      return currentIndex < 0 ? list.indexOf(id) : offset + currentIndex;
    },
  };
}

/** Stores the position in the URL, so that Back, reloads and shared links restore it. Makes no request. */
export function storeOffsetInUrl(index: number): void {
  const url = new URL(window.location.href);
  const previousOffset = url.searchParams.get("offset");
  if (index === 0) url.searchParams.delete("offset");
  else url.searchParams.set("offset", String(index));
  if (url.searchParams.get("offset") !== previousOffset) window.history.replaceState(getHistoryState(), "", url.pathname + url.search);
}
