// Loads the rows of a long list in chunks around the viewport.
// Guarantees: caches at most MAX_CHUNKS chunks, those nearest to the viewport. A request is aborted when its chunk leaves the viewport, and
// never sent twice. A failure is kept until a retry, and never looks like the end of the list. Rows added at the top since the first read
// don't shift the others (`hiddenNewCount`).

import { createStore } from "zustand/vanilla";
import { type ApiFailure } from "@/lib/browser/api-failure";
import { type AssetView } from "@/lib/contract/views/asset-view";
import { type Result } from "@/lib/shared/result";
import { MAX_PAGE_SIZE } from "../asset-api";
import { type AssetPage } from "../assets-urls";

export const ASSETS_PER_CHUNK = 60;
export const MAX_CHUNKS = 24;

export type ReadPage = (range: { offset: number; limit: number }, signal: AbortSignal) => Promise<Result<AssetPage, ApiFailure>>;
export type ChunkStore = ReturnType<typeof createChunkStore>;

/** Both may show the list at once, since the full view opens over the gallery. */
type Viewer = "gallery" | "full view";
type Chunk = { rows: readonly AssetView[]; isStale: boolean; controller?: AbortController };

export function createChunkStore(readPage: ReadPage, options: { hidesNewRows: boolean }) {
  const chunks = new Map<number, Chunk>();
  /** Incremented on each change of the list, so that views update. */
  const version = createStore(() => 0);
  let total: number | undefined;
  /** True until the first response after a change of the list; the old length is used until then. */
  let isLengthStale = true;
  /** Without a total: the length of the list if known, otherwise its minimum length. */
  let knownLength = 0;
  let hasReachedEnd = false;
  /** New rows at the top that are not shown yet. */
  let hiddenNewCount = 0;
  const failures = new Map<number, ApiFailure>();
  const viewedRanges = new Map<Viewer, { from: number; to: number }>();

  const notify = () => version.setState((count) => count + 1);

  function updateLength(page: AssetPage, end: number, limit = ASSETS_PER_CHUNK) {
    if (page.total !== undefined) {
      if (total === undefined || isLengthStale) [total, hiddenNewCount] = [page.total, 0];
      else if (options.hidesNewRows && page.total > total) hiddenNewCount = page.total - total;
      else if (!options.hidesNewRows || page.total < total) [total, hiddenNewCount] = [page.total, 0];
    } else {
      knownLength = Math.max(knownLength, end);
      hasReachedEnd ||= page.hasMore === false || (page.hasMore === undefined && page.assets.length < limit);
    }
    isLengthStale = false;
  }

  async function readRange(offset: number, limit: number, signal: AbortSignal) {
    const initialNewCount = hiddenNewCount;
    const result = await readPage({ offset: offset + initialNewCount, limit }, signal);
    if (result.ok) updateLength(result.value, offset + result.value.assets.length, limit);
    // The list has grown at the top, so these rows are further down than requested.
    return result.ok && hiddenNewCount !== initialNewCount && !signal.aborted
      ? readPage({ offset: offset + hiddenNewCount, limit }, signal)
      : result;
  }

  async function load(chunkIndex: number) {
    const controller = new AbortController();
    const previousChunk = chunks.get(chunkIndex);
    chunks.set(chunkIndex, { rows: previousChunk?.rows ?? [], isStale: true, controller });
    const offset = chunkIndex * ASSETS_PER_CHUNK;
    const result = await readRange(offset, ASSETS_PER_CHUNK, controller.signal);
    if (controller.signal.aborted || chunks.get(chunkIndex)?.controller !== controller) return;
    if (result.ok) {
      failures.delete(chunkIndex);
      chunks.set(chunkIndex, { rows: result.value.assets, isStale: false });
    } else {
      failures.set(chunkIndex, result.failure);
      if (previousChunk && previousChunk.rows.length > 0) chunks.set(chunkIndex, { rows: previousChunk.rows, isStale: true });
      else chunks.delete(chunkIndex);
    }
    notify();
  }

  function abortRead(chunkIndex: number, chunk: Chunk) {
    chunk.controller?.abort();
    if (chunk.rows.length > 0) chunks.set(chunkIndex, { rows: chunk.rows, isStale: true });
    else chunks.delete(chunkIndex);
  }

  function evictDistant(middle: number) {
    const distantIndexes = [...chunks.keys()].sort((a, b) => Math.abs(a - middle) - Math.abs(b - middle)).slice(MAX_CHUNKS);
    for (const chunkIndex of distantIndexes) if (!isNeeded(chunkIndex)) chunks.delete(chunkIndex);
  }

  const isNeeded = (chunkIndex: number) =>
    [...viewedRanges.values()].some(({ from, to }) => chunkIndex * ASSETS_PER_CHUNK < to && (chunkIndex + 1) * ASSETS_PER_CHUNK > from);

  /** Loads the missing chunks of one or all viewers, and aborts chunks that are no longer needed. */
  function readViewedRanges(ranges: Iterable<{ from: number; to: number }> = viewedRanges.values()) {
    for (const [chunkIndex, chunk] of chunks) if (chunk.controller && !isNeeded(chunkIndex)) abortRead(chunkIndex, chunk);
    for (const { from, to } of ranges) {
      for (let chunkIndex = Math.floor(from / ASSETS_PER_CHUNK); chunkIndex * ASSETS_PER_CHUNK < to; chunkIndex += 1) {
        const chunk = chunks.get(chunkIndex);
        if (!chunk || (chunk.isStale && !chunk.controller)) void load(chunkIndex);
      }
      evictDistant((from + to) / 2 / ASSETS_PER_CHUNK);
    }
  }

  const at = (index: number): AssetView | undefined => chunks.get(Math.floor(index / ASSETS_PER_CHUNK))?.rows[index % ASSETS_PER_CHUNK];

  return {
    subscribe: version.subscribe,
    getVersion: version.getState,
    at,
    /** Returns these rows and loads the missing ones. Returns fewer if a request fails or is aborted. */
    async loadRange(from: number, to: number, signal: AbortSignal): Promise<AssetView[]> {
      const loadedAssets = Array.from({ length: to - from }, (_, index) => at(from + index)).filter((asset) => asset !== undefined);
      if (loadedAssets.length === to - from) return loadedAssets;
      const assets: AssetView[] = [];
      for (let offset = from; offset < to; offset += MAX_PAGE_SIZE) {
        const page = await readRange(offset, Math.min(MAX_PAGE_SIZE, to - offset), signal);
        if (!page.ok || signal.aborted) break;
        assets.push(...page.value.assets);
      }
      return assets;
    },
    getCount: (): number => total ?? (hasReachedEnd ? knownLength : knownLength + ASSETS_PER_CHUNK),
    getTotal: () => total,
    /** The failure of a visible chunk, even if another chunk has loaded. */
    getFailure: () => [...failures].find(([chunkIndex]) => isNeeded(chunkIndex))?.[1],
    getLoadedChunkCount: () => chunks.size,
    /** Keeps these rows loaded for this viewer until the next call. */
    request(from: number, to: number, viewer: Viewer = "gallery"): void {
      const range = { from, to };
      if (from < to) viewedRanges.set(viewer, range);
      else viewedRanges.delete(viewer);
      readViewedRanges(from < to ? [range] : []);
    },
    /** Adds a page that was read elsewhere, such as by the server. `offset` is the start of a chunk. */
    seed(page: AssetPage, offset: number): void {
      updateLength(page, offset + page.assets.length);
      // A response without rows is cached too, since it contains the length.
      for (let start = 0; start === 0 || start < page.assets.length; start += ASSETS_PER_CHUNK) {
        chunks.set((offset + start) / ASSETS_PER_CHUNK, { rows: page.assets.slice(start, start + ASSETS_PER_CHUNK), isStale: false });
      }
      notify();
    },
    /** Replaces the list with a newer page. Other loaded chunks are reloaded when scrolled into view. `offset` is the start of a chunk. */
    replaceList(page: AssetPage, offset = 0): void {
      for (const { controller } of chunks.values()) controller?.abort();
      for (const [chunkIndex, chunk] of chunks) chunks.set(chunkIndex, { rows: chunk.rows, isStale: true });
      [knownLength, hasReachedEnd, hiddenNewCount, isLengthStale] = [0, false, 0, true];
      failures.clear();
      updateLength(page, offset + page.assets.length);
      chunks.set(offset / ASSETS_PER_CHUNK, { rows: page.assets.slice(0, ASSETS_PER_CHUNK), isStale: false });
      readViewedRanges();
      notify();
    },
    /** Marks loaded rows as stale. Visible rows are reloaded now, and shown unchanged until then. */
    refresh(): void {
      [hiddenNewCount, isLengthStale] = [0, true];
      failures.clear();
      for (const [chunkIndex, chunk] of chunks) {
        if (chunk.controller) abortRead(chunkIndex, chunk);
        else chunks.set(chunkIndex, { rows: chunk.rows, isStale: true });
      }
      readViewedRanges();
    },
    /** Changes one asset in place. */
    patch(id: string, change: (asset: AssetView) => AssetView): void {
      for (const [chunkIndex, chunk] of chunks) {
        if (chunk.rows.some((asset) => asset.id === id)) {
          chunks.set(chunkIndex, { ...chunk, rows: chunk.rows.map((asset) => (asset.id === id ? change(asset) : asset)) });
        }
      }
      notify();
    },
    /** The loaded rows, in the order of the list. */
    getRows: (): AssetView[] => [...chunks].sort(([a], [b]) => a - b).flatMap(([, { rows }]) => rows),
    indexOf(id: string): number {
      for (const [chunkIndex, { rows }] of chunks) {
        const rowIndex = rows.findIndex((asset) => asset.id === id);
        if (rowIndex >= 0) return chunkIndex * ASSETS_PER_CHUNK + rowIndex;
      }
      return -1;
    },
  };
}

/** The assets of a gallery, whether one page of a list or the whole list. */
export type AssetsSource = {
  /** Incremented on every change of the loaded rows. */
  version: number;
  count: number;
  /** The length of the whole list; undefined if the service reports none. */
  total: number | undefined;
  at: (index: number) => AssetView | undefined;
  indexOf: (id: string) => number;
  /** The loaded rows, in order. */
  getRows: () => AssetView[];
  /** Returns these rows and loads the missing ones. Returns fewer if a request fails. */
  loadRange: (from: number, to: number, signal: AbortSignal) => Promise<AssetView[]>;
  /** Called once these rows have stayed in view, and with an empty range when the viewer closes. */
  request: (from: number, to: number, viewer?: "gallery" | "full view") => void;
  /** The number of new assets above that are not shown yet. */
  newCount: number;
  /** The reason that some rows are missing. */
  failure: ApiFailure | undefined;
  /** The number of rows that could not be parsed. */
  unreadable?: number;
  atMs: number | undefined;
  /** Call after an action that changed the list. */
  refresh: () => void;
  /** Changes one asset in place. */
  patch: (id: string, change: (asset: AssetView) => AssetView) => void;
  /** The index of the first row in the whole list. */
  offset: number;
  /** No response yet. */
  isEmpty: boolean;
};
