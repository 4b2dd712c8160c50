// The rows of a long list, read in chunks by offset for the part in view.
// Guarantees: at most MAX_CHUNKS chunks are cached, those nearest to the view; a request is aborted when its chunk leaves the view; a
// refusal stays until a retry and never looks like the end of the list; rows added at the top since the first read do not shift the others
// (`lead`).
// Must never: request a chunk that is already being read.

import { createStore } from "zustand/vanilla";
import { type ApiFailure } from "@/lib/browser/read-failure";
import { type AssetView } from "@/lib/contract/views/asset-view";
import { type Result } from "@/lib/shared/result";
import { MAX_PAGE_SIZE } from "../asset-calls";
import { type AssetPage } from "../assets-address";

export const CHUNK = 60;
export const MAX_CHUNKS = 24;

export type ReadPage = (range: { offset: number; limit: number }, signal: AbortSignal) => Promise<Result<AssetPage, ApiFailure>>;
export type ChunkStore = ReturnType<typeof createChunkStore>;

/** Both may show the list at once: a full view opens over the gallery. */
type Viewer = "gallery" | "full view";
type Chunk = { rows: readonly AssetView[]; isStale: boolean; reading?: AbortController };

export function createChunkStore(read: ReadPage, options: { leads: boolean }) {
  const chunks = new Map<number, Chunk>();
  /** Grows with each change of the list, so that views read the rows again. */
  const version = createStore(() => 0);
  let total: number | undefined;
  /** The old length is used until the next response. */
  let isAnew = true;
  /** Without a total: the end of the list once seen, or its minimum length. */
  let seen = 0;
  let isEndSeen = false;
  /** Rows that arrived at the top since, not shown yet. */
  let lead = 0;
  const failures = new Map<number, ApiFailure>();
  const viewedRanges = new Map<Viewer, { from: number; to: number }>();

  const notify = () => version.setState((count) => count + 1);

  function learn(page: AssetPage, end: number, limit = CHUNK) {
    if (page.total !== undefined) {
      if (total === undefined || isAnew) [total, lead] = [page.total, 0];
      else if (options.leads && page.total > total) lead = page.total - total;
      else if (!options.leads || page.total < total) [total, lead] = [page.total, 0];
    } else {
      seen = Math.max(seen, end);
      isEndSeen ||= page.hasMore === false || (page.hasMore === undefined && page.assets.length < limit);
    }
    isAnew = false;
  }

  async function readAt(offset: number, limit: number, signal: AbortSignal) {
    const usedLead = lead;
    const result = await read({ offset: offset + usedLead, limit }, signal);
    if (result.ok) learn(result.value, offset + result.value.assets.length, limit);
    // The list grew at the top since the last response, so these rows are further down than requested.
    return result.ok && lead !== usedLead && !signal.aborted ? read({ offset: offset + lead, limit }, signal) : result;
  }

  async function load(number: number) {
    const reading = new AbortController();
    const before = chunks.get(number);
    chunks.set(number, { rows: before?.rows ?? [], isStale: true, reading });
    const offset = number * CHUNK;
    const result = await readAt(offset, CHUNK, reading.signal);
    if (reading.signal.aborted || chunks.get(number)?.reading !== reading) return;
    if (result.ok) {
      failures.delete(number);
      chunks.set(number, { rows: result.value.assets, isStale: false });
    } else {
      failures.set(number, result.failure);
      if (before && before.rows.length > 0) chunks.set(number, { rows: before.rows, isStale: true });
      else chunks.delete(number);
    }
    notify();
  }

  function giveUp(number: number, chunk: Chunk) {
    chunk.reading?.abort();
    if (chunk.rows.length > 0) chunks.set(number, { rows: chunk.rows, isStale: true });
    else chunks.delete(number);
  }

  function dropFar(middle: number) {
    const farthest = [...chunks.keys()].sort((a, b) => Math.abs(a - middle) - Math.abs(b - middle)).slice(MAX_CHUNKS);
    for (const number of farthest) if (!isNeeded(number)) chunks.delete(number);
  }

  const isNeeded = (number: number) =>
    [...viewedRanges.values()].some(({ from, to }) => number * CHUNK < to && (number + 1) * CHUNK > from);

  /** Reads missing chunks that one or all viewers need, and aborts those no longer needed. */
  function readViewedRanges(by: Iterable<{ from: number; to: number }> = viewedRanges.values()) {
    for (const [number, chunk] of chunks) if (chunk.reading && !isNeeded(number)) giveUp(number, chunk);
    for (const { from, to } of by) {
      for (let number = Math.floor(from / CHUNK); number * CHUNK < to; number += 1) {
        const chunk = chunks.get(number);
        if (!chunk || (chunk.isStale && !chunk.reading)) void load(number);
      }
      dropFar((from + to) / 2 / CHUNK);
    }
  }

  const at = (index: number): AssetView | undefined => chunks.get(Math.floor(index / CHUNK))?.rows[index % CHUNK];

  return {
    subscribe: version.subscribe,
    version: version.getState,
    at,
    /** These rows, reading those that are not loaded; fewer where the service refuses or the caller aborts. */
    async range(from: number, to: number, signal: AbortSignal): Promise<AssetView[]> {
      const loaded = Array.from({ length: to - from }, (_, index) => at(from + index)).filter((asset) => asset !== undefined);
      if (loaded.length === to - from) return loaded;
      const assets: AssetView[] = [];
      for (let offset = from; offset < to; offset += MAX_PAGE_SIZE) {
        const page = await readAt(offset, Math.min(MAX_PAGE_SIZE, to - offset), signal);
        if (!page.ok || signal.aborted) break;
        assets.push(...page.value.assets);
      }
      return assets;
    },
    count: (): number => total ?? (isEndSeen ? seen : seen + CHUNK),
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
    /** Adds a page that was read elsewhere, such as by the server for the first paint. `offset` begins a chunk. */
    seed(page: AssetPage, offset: number): void {
      learn(page, offset + page.assets.length);
      // A response without rows is cached too, since it contains the length.
      for (let at = 0; at === 0 || at < page.assets.length; at += CHUNK) {
        chunks.set((offset + at) / CHUNK, { rows: page.assets.slice(at, at + CHUNK), isStale: false });
      }
      notify();
    },
    /** Replaces the list by its newest state: other loaded chunks are read again when they come into view. `offset` begins a chunk. */
    adopt(page: AssetPage, offset = 0): void {
      for (const { reading } of chunks.values()) reading?.abort();
      for (const [number, chunk] of chunks) chunks.set(number, { rows: chunk.rows, isStale: true });
      [seen, isEndSeen, lead, isAnew] = [0, false, 0, true];
      failures.clear();
      learn(page, offset + page.assets.length);
      chunks.set(offset / CHUNK, { rows: page.assets.slice(0, CHUNK), isStale: false });
      readViewedRanges();
      notify();
    },
    /** Loaded rows may be outdated: those in view are read again now, and shown as they were until then. */
    refresh(): void {
      [lead, isAnew] = [0, true];
      failures.clear();
      for (const [number, chunk] of chunks) {
        if (chunk.reading) giveUp(number, chunk);
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
        if (at >= 0) return number * CHUNK + at;
      }
      return -1;
    },
  };
}

/** The assets of a gallery, whether one page of a list or the whole list. */
export type AssetsSource = {
  /** Grows with every change of the loaded rows. */
  version: number;
  count: number;
  /** The length of the whole list; undefined if the service reports none. */
  total: number | undefined;
  at: (index: number) => AssetView | undefined;
  indexOf: (id: string) => number;
  /** The loaded rows, in order. */
  rows: () => AssetView[];
  /** These rows, loading those that are missing; fewer where the service refuses. */
  range: (from: number, to: number, signal: AbortSignal) => Promise<AssetView[]>;
  /** Called when these rows stay in view for a moment, in the gallery or in the full view. Empty when that closes. */
  request: (from: number, to: number, viewer?: "gallery" | "full view") => void;
  /** New assets above, not shown yet. */
  newCount: number;
  /** Why some rows are missing. */
  failure: ApiFailure | undefined;
  /** Rows at the top of the list, or on the page, that the service sent in an unknown shape. */
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
