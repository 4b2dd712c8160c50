// The rows of a long list, read in chunks around the viewport.
// Guarantees: caches at most MAX_CHUNKS chunks, those nearest to the viewport. A request is aborted when its chunk leaves the viewport, and
// never sent twice. A failure is kept until a retry and never looks like the end of the list. Rows added at the top since the first read do
// not shift the others (`lead`).

import { createStore } from "zustand/vanilla";
import { type ApiFailure } from "@/lib/browser/read-failure";
import { type AssetView } from "@/lib/contract/views/asset-view";
import { type Result } from "@/lib/shared/result";
import { MAX_PAGE_SIZE } from "../asset-calls";
import { type AssetPage } from "../assets-address";

export const ASSETS_PER_CHUNK = 60;
export const MAX_CHUNKS = 24;

export type ReadPage = (range: { offset: number; limit: number }, signal: AbortSignal) => Promise<Result<AssetPage, ApiFailure>>;
export type ChunkStore = ReturnType<typeof createChunkStore>;

/** Both may show the list at once, since the full view opens over the gallery. */
type Viewer = "gallery" | "full view";
type Chunk = { rows: readonly AssetView[]; isStale: boolean; reading?: AbortController };

export function createChunkStore(read: ReadPage, options: { leads: boolean }) {
  const chunks = new Map<number, Chunk>();
  /** Incremented on each change of the list, so that views read the rows again. */
  const version = createStore(() => 0);
  let total: number | undefined;
  /** True until the first response after a change of the list; the old length is used until then. */
  let isLengthStale = true;
  /** Without a total: the length of the list if known, otherwise its minimum length. */
  let knownLength = 0;
  let hasReachedEnd = false;
  /** New rows at the top that are not shown yet. */
  let lead = 0;
  const failures = new Map<number, ApiFailure>();
  const viewedRanges = new Map<Viewer, { from: number; to: number }>();

  const notify = () => version.setState((count) => count + 1);

  function updateLength(page: AssetPage, end: number, limit = ASSETS_PER_CHUNK) {
    if (page.total !== undefined) {
      if (total === undefined || isLengthStale) [total, lead] = [page.total, 0];
      else if (options.leads && page.total > total) lead = page.total - total;
      else if (!options.leads || page.total < total) [total, lead] = [page.total, 0];
    } else {
      knownLength = Math.max(knownLength, end);
      hasReachedEnd ||= page.hasMore === false || (page.hasMore === undefined && page.assets.length < limit);
    }
    isLengthStale = false;
  }

  async function readRange(offset: number, limit: number, signal: AbortSignal) {
    const usedLead = lead;
    const result = await read({ offset: offset + usedLead, limit }, signal);
    if (result.ok) updateLength(result.value, offset + result.value.assets.length, limit);
    // The list has grown at the top, so these rows are further down than requested.
    return result.ok && lead !== usedLead && !signal.aborted ? read({ offset: offset + lead, limit }, signal) : result;
  }

  async function load(number: number) {
    const reading = new AbortController();
    const previousChunk = chunks.get(number);
    chunks.set(number, { rows: previousChunk?.rows ?? [], isStale: true, reading });
    const offset = number * ASSETS_PER_CHUNK;
    const result = await readRange(offset, ASSETS_PER_CHUNK, reading.signal);
    if (reading.signal.aborted || chunks.get(number)?.reading !== reading) return;
    if (result.ok) {
      failures.delete(number);
      chunks.set(number, { rows: result.value.assets, isStale: false });
    } else {
      failures.set(number, result.failure);
      if (previousChunk && previousChunk.rows.length > 0) chunks.set(number, { rows: previousChunk.rows, isStale: true });
      else chunks.delete(number);
    }
    notify();
  }

  function abortRead(number: number, chunk: Chunk) {
    chunk.reading?.abort();
    if (chunk.rows.length > 0) chunks.set(number, { rows: chunk.rows, isStale: true });
    else chunks.delete(number);
  }

  function evictDistant(middle: number) {
    const farthest = [...chunks.keys()].sort((a, b) => Math.abs(a - middle) - Math.abs(b - middle)).slice(MAX_CHUNKS);
    for (const number of farthest) if (!isNeeded(number)) chunks.delete(number);
  }

  const isNeeded = (number: number) =>
    [...viewedRanges.values()].some(({ from, to }) => number * ASSETS_PER_CHUNK < to && (number + 1) * ASSETS_PER_CHUNK > from);

  /** Loads the missing chunks of one or all viewers, and aborts chunks that are no longer needed. */
  function readViewedRanges(by: Iterable<{ from: number; to: number }> = viewedRanges.values()) {
    for (const [number, chunk] of chunks) if (chunk.reading && !isNeeded(number)) abortRead(number, chunk);
    for (const { from, to } of by) {
      for (let number = Math.floor(from / ASSETS_PER_CHUNK); number * ASSETS_PER_CHUNK < to; number += 1) {
        const chunk = chunks.get(number);
        if (!chunk || (chunk.isStale && !chunk.reading)) void load(number);
      }
      evictDistant((from + to) / 2 / ASSETS_PER_CHUNK);
    }
  }

  const at = (index: number): AssetView | undefined => chunks.get(Math.floor(index / ASSETS_PER_CHUNK))?.rows[index % ASSETS_PER_CHUNK];

  return {
    subscribe: version.subscribe,
    version: version.getState,
    at,
    /** Returns these rows and loads missing ones. Returns fewer if the service refuses or the caller aborts. */
    async range(from: number, to: number, signal: AbortSignal): Promise<AssetView[]> {
      const loaded = Array.from({ length: to - from }, (_, index) => at(from + index)).filter((asset) => asset !== undefined);
      if (loaded.length === to - from) return loaded;
      const assets: AssetView[] = [];
      for (let offset = from; offset < to; offset += MAX_PAGE_SIZE) {
        const page = await readRange(offset, Math.min(MAX_PAGE_SIZE, to - offset), signal);
        if (!page.ok || signal.aborted) break;
        assets.push(...page.value.assets);
      }
      return assets;
    },
    count: (): number => total ?? (hasReachedEnd ? knownLength : knownLength + ASSETS_PER_CHUNK),
    total: () => total,
    /** The failure of the chunks in view, even if another chunk has loaded. */
    failure: () => [...failures].find(([number]) => isNeeded(number))?.[1],
    loadedChunks: () => chunks.size,
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
      for (let at = 0; at === 0 || at < page.assets.length; at += ASSETS_PER_CHUNK) {
        chunks.set((offset + at) / ASSETS_PER_CHUNK, { rows: page.assets.slice(at, at + ASSETS_PER_CHUNK), isStale: false });
      }
      notify();
    },
    /** Replaces the list by a newer state: other loaded chunks are reloaded when scrolled into view. `offset` is the start of a chunk. */
    adopt(page: AssetPage, offset = 0): void {
      for (const { reading } of chunks.values()) reading?.abort();
      for (const [number, chunk] of chunks) chunks.set(number, { rows: chunk.rows, isStale: true });
      [knownLength, hasReachedEnd, lead, isLengthStale] = [0, false, 0, true];
      failures.clear();
      updateLength(page, offset + page.assets.length);
      chunks.set(offset / ASSETS_PER_CHUNK, { rows: page.assets.slice(0, ASSETS_PER_CHUNK), isStale: false });
      readViewedRanges();
      notify();
    },
    /** Marks loaded rows as stale. Visible rows are reloaded now, and shown unchanged until then. */
    refresh(): void {
      [lead, isLengthStale] = [0, true];
      failures.clear();
      for (const [number, chunk] of chunks) {
        if (chunk.reading) abortRead(number, chunk);
        else chunks.set(number, { rows: chunk.rows, isStale: true });
      }
      readViewedRanges();
    },
    /** Changes one asset in place. */
    patch(id: string, change: (asset: AssetView) => AssetView): void {
      for (const [number, chunk] of chunks) {
        if (chunk.rows.some((asset) => asset.id === id)) {
          chunks.set(number, { ...chunk, rows: chunk.rows.map((asset) => (asset.id === id ? change(asset) : asset)) });
        }
      }
      notify();
    },
    /** The loaded rows, in the order of the list. */
    rows: (): AssetView[] => [...chunks].sort(([a], [b]) => a - b).flatMap(([, { rows }]) => rows),
    indexOf(id: string): number {
      for (const [number, { rows }] of chunks) {
        const at = rows.findIndex((asset) => asset.id === id);
        if (at >= 0) return number * ASSETS_PER_CHUNK + at;
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
  rows: () => AssetView[];
  /** Returns these rows and loads missing ones. Returns fewer if the service refuses. */
  range: (from: number, to: number, signal: AbortSignal) => Promise<AssetView[]>;
  /** Called once these rows have stayed in view, and with an empty range when the viewer closes. */
  request: (from: number, to: number, viewer?: "gallery" | "full view") => void;
  /** The number of new assets above that are not shown yet. */
  newCount: number;
  /** Why some rows are missing. */
  failure: ApiFailure | undefined;
  /** The number of rows that the service sent in an unknown shape. */
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
