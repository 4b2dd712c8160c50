import { startTransition, useEffect, useMemo, useState, useSyncExternalStore } from "react";
import { isAtTop as isPageAtTop, reuseRows, subscribeToTop, usePausedRows } from "@/components/data-table/paused-rows";
import { historyState } from "@/components/viewer/use-viewing";
import { type TimedValue, toInitial, useLive } from "@/lib/browser/live/use-live";
import { type Failure } from "@/lib/contract/failure";
import { type AssetsQuery } from "@/lib/contract/schemas/asset";
import { type AssetView } from "@/lib/contract/views/asset-view";
import { type Result } from "@/lib/shared/result";
import { readAssets } from "../asset-calls";
import { type AssetPage, assetsApiPath, getListKey, isNewestFirst, toAssetPage } from "../assets-address";
import { ASSETS_PER_CHUNK, type AssetsSource, type ChunkStore, createChunkStore } from "./chunk-store";

// Caches the rows of the last few lists, so that going back shows them immediately.
// Must never cache on the server, which is shared by all members.
type CachedStore = { store: ChunkStore; atMs: number };
const MAX_COUNT = 3;
const stores = new Map<string, CachedStore>();

function readCachedStore(key: string): CachedStore | undefined {
  return stores.get(key);
}

function cacheStore(key: string, entry: CachedStore): void {
  if (typeof window === "undefined") return;
  stores.delete(key);
  stores.set(key, entry);
  for (const oldest of [...stores.keys()].slice(0, -MAX_COUNT)) stores.delete(oldest);
}

type EndlessOptions = {
  query: AssetsQuery;
  connectionId: string | undefined;
  first: Result<TimedValue<AssetPage>, Failure>;
  isOn: boolean;
};

/** Loads the whole list in chunks around the viewport. The top updates live; new rows are held back above it. */
export function useEndless({ query, connectionId, first, isOn }: EndlessOptions): AssetsSource {
  const listKey = getListKey(query);
  const store = useStore(listKey, { query, connectionId, first, isOn });
  const version = useVersion(store);
  const path = connectionId && isOn ? assetsApiPath({ ...query, offset: 0, limit: ASSETS_PER_CHUNK }, connectionId) : undefined;
  const live = useLive(path, { ...(isOn && query.offset === 0 && toInitial(first)), read: toAssetPage });
  const isAtTop = useSyncExternalStore(subscribeToTop, isPageAtTop, () => true);
  const latest = live.value;
  const hasChanged = latest !== undefined && isOn && differs(store, latest);
  useEffect(() => {
    if (!latest || !isOn) return;
    // If the list had failed to load, this is its first part.
    if (store.loadedChunks() === 0) store.adopt(latest);
    else if (hasChanged && (isAtTop || store.count() === 0)) store.adopt(latest);
    else if (!hasChanged) patchAll(store, latest);
    // The service responds again, so failed visible chunks are reloaded.
    if (store.failure()) store.refresh();
  }, [latest, hasChanged, isAtTop, isOn, store]);

  const newCount = hasChanged && !isAtTop ? countNew(store, latest) : 0;
  const total = latest?.total ?? store.total();
  const firstFailure = first.ok ? undefined : first.failure;
  const { atMs, refresh } = live;
  const failure = store.failure() ?? live.failure ?? (store.loadedChunks() === 0 ? firstFailure : undefined);
  return useMemo(
    () => ({
      version,
      count: store.count(),
      total,
      at: store.at,
      indexOf: store.indexOf,
      rows: store.rows,
      range: store.range,
      request: store.request,
      newCount,
      failure,
      unreadable: latest?.unreadable,
      atMs,
      refresh: () => {
        store.refresh();
        void refresh();
      },
      patch: store.patch,
      offset: 0,
      isEmpty: store.loadedChunks() === 0,
    }),
    [version, store, total, newCount, failure, latest?.unreadable, atMs, refresh],
  );
}

/** Updates in a transition, since hundreds of rows may arrive during scrolling. */
function useVersion(store: ChunkStore): number {
  const [version, setVersion] = useState(store.version);
  useEffect(() => {
    const updateVersion = () => startTransition(() => setVersion(store.version()));
    updateVersion();
    return store.subscribe(updateVersion);
  }, [store]);
  return version;
}

function useStore(listKey: string, { query, connectionId, first, isOn }: EndlessOptions): ChunkStore {
  const key = `${connectionId ?? ""} ${listKey}`;
  const store = useMemo(() => {
    const readRange = (range: { offset: number; limit: number }, signal: AbortSignal) => readAssets({ query, connectionId }, range, signal);
    const store = readCachedStore(key)?.store ?? createChunkStore(readRange, { leads: isNewestFirst(query) });
    if (isOn && first.ok && store.loadedChunks() === 0) store.seed(first.value.value, query.offset);
    return store;
    // eslint-disable-next-line react-hooks/exhaustive-deps -- the key identifies the list; a later response is added below
  }, [key, isOn]);
  useEffect(() => {
    if (!isOn) return;
    const cachedStore = readCachedStore(key);
    const atMs = first.ok ? first.value.atMs : 0;
    if (cachedStore && first.ok && atMs > cachedStore.atMs) store.adopt(first.value.value, query.offset);
    cacheStore(key, { store, atMs: Math.max(atMs, cachedStore?.atMs ?? 0) });
    // eslint-disable-next-line react-hooks/exhaustive-deps -- the key identifies the list
  }, [key, first, isOn, store]);
  return store;
}

function differs(store: ChunkStore, page: AssetPage): boolean {
  if (page.total !== undefined && store.total() !== undefined && page.total !== store.total()) return true;
  return page.assets.some(({ id }, index) => {
    const loaded = store.at(index);
    return loaded !== undefined && loaded.id !== id;
  });
}

function countNew(store: ChunkStore, page: AssetPage): number {
  const total = store.total();
  if (page.total !== undefined && total !== undefined) return Math.max(0, page.total - total);
  return page.assets.filter(({ id }) => store.indexOf(id) < 0).length;
}

function patchAll(store: ChunkStore, page: AssetPage): void {
  const previousRows = page.assets.flatMap((_, index) => store.at(index) ?? []);
  const previousAssets = new Set(previousRows);
  for (const asset of reuseRows(previousRows, page.assets)) if (!previousAssets.has(asset)) store.patch(asset.id, () => asset);
}

type PagedOptions = {
  query: AssetsQuery;
  connectionId: string | undefined;
  first: Result<TimedValue<AssetPage>, Failure>;
  isOn: boolean;
};

const noAssets: AssetView[] = [];

/** One page of the list, kept current by live updates. */
export function usePaged({ query, connectionId, first, isOn }: PagedOptions): AssetsSource & { hasMore: boolean | undefined } {
  const path = connectionId && isOn ? assetsApiPath(query, connectionId) : undefined;
  const live = useLive(path, { ...(isOn && toInitial(first)), read: toAssetPage });
  const page = live.value;
  const view = `${getListKey(query)} ${query.offset} ${query.limit}`;
  const paused = usePausedRows(view, page?.assets ?? noAssets, { total: page?.total, isHeld: query.offset > 0 });
  const { rows, newCount } = paused;
  const { failure, atMs, refresh, patch } = live;
  return useMemo(
    () => ({
      version: atMs ?? 0,
      count: rows.length,
      total: page?.total,
      hasMore: page?.hasMore,
      at: (index) => rows[index],
      indexOf: (id) => rows.findIndex((asset) => asset.id === id),
      rows: () => rows,
      range: (from, to) => Promise.resolve(rows.slice(from, to)),
      request: () => undefined,
      newCount,
      failure,
      unreadable: page?.unreadable,
      atMs,
      refresh: () => void refresh(),
      patch: (id, change) => patch((now) => ({ ...now, assets: now.assets.map((asset) => (asset.id === id ? change(asset) : asset)) })),
      offset: query.offset,
      isEmpty: page === undefined,
    }),
    [rows, newCount, page, failure, atMs, refresh, patch, query.offset],
  );
}

type Page = Pick<AssetsSource, "at" | "indexOf" | "count" | "total">;

/** Combines a page with its whole list, so that the viewer continues beyond the page. Indexes count from the list's first row. */
export function aroundPage(page: Page, offset: number, list: AssetsSource): AssetsSource {
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

/** Stores the position in an endless list in the URL, for Back, a reload and links. Makes no request. */
export function storeOffsetInUrl(index: number): void {
  const address = new URL(window.location.href);
  const previousOffset = address.searchParams.get("offset");
  if (index === 0) address.searchParams.delete("offset");
  else address.searchParams.set("offset", String(index));
  if (address.searchParams.get("offset") !== previousOffset)
    window.history.replaceState(historyState(), "", address.pathname + address.search);
}
