import { useTranslations } from "next-intl";
import { type RefObject, useEffect, useEffectEvent, useMemo, useState } from "react";
import { flushSync } from "react-dom";
import { createSelection, type SelectionStore, useAllKey } from "@/components/data-table/selection";
import { isFreeKey, usePageKey } from "@/components/ui/hooks/page-events";
import { showToast } from "@/components/ui/toast-store";
import { type AssetView } from "@/lib/contract/views/asset-view";
import { type AssetsSource } from "./chunk-store";
import { type GalleryView } from "./use-gallery";

export type Picking = Omit<Picker, "follow" | "release"> & { store: SelectionStore; isReading: boolean };

/** Clears the selection when the filters change. */
export function usePicking(source: AssetsSource, question: string): Picking {
  const t = useTranslations("assets.bulk");
  const [store] = useState(createSelection);
  const [isReading, setReading] = useState(false);
  const [shortage, setShortage] = useState<Shortage>();
  const [picker] = useState(() => createPicker(store, { onReading: setReading, onShortage: setShortage }));
  const showShortage = useEffectEvent(({ why, count, requestedCount }: Shortage) =>
    showToast({ tone: "wait", text: t(`short.${why}`, { count, requested: requestedCount }) }),
  );
  useEffect(() => {
    if (shortage) showShortage(shortage);
  }, [shortage]);
  useEffect(() => picker.follow(source), [picker, source]);
  useEffect(() => picker.release, [question, picker]);
  return useMemo(() => ({ ...picker, store, isReading }), [picker, store, isReading]);
}

// Selects rows by index in a partly loaded list: single rows, ranges, bands, or all but some. A newer read aborts an older one. Rows
// deselected during a read are not selected by it.

/** Maximum rows per drag or range, loaded or not. */
const MAX_IN_RANGE = 10_000;

/** Why fewer rows were selected than requested: the range limit, a failed read, or the end of the page. */
type Shortage = { why: "bound" | "unread" | "page"; count: number; requestedCount: number };
type Reports = { onReading: (isReading: boolean) => void; onShortage: (shortage: Shortage) => void };

/** `to` is exclusive. `requestedCount`: the size before any limit. */
type Range = { from: number; to: number; requestedCount: number };
/** `manual`: individually toggled assets, which override the read. */
type Reading = { abort: AbortController; manual: Map<string, boolean> };

type Picker = ReturnType<typeof createPicker>;

function createPicker(store: SelectionStore, { onReading, onShortage }: Reports) {
  let source: AssetsSource | undefined;
  const assetsById = new Map<string, AssetView>();
  /** The start of a range: the last selected index. */
  let anchor: number | undefined;
  /** The last selected range. The next range replaces it, but keeps its `baseSelection`. */
  let last: { selected: ReadonlySet<string>; baseSelection: ReadonlySet<string> } | undefined;
  let reading: Reading | undefined;

  function rememberAssets(assets: readonly AssetView[]) {
    for (const asset of assets) assetsById.set(asset.id, asset);
  }
  function select(assets: readonly AssetView[], baseSelection: ReadonlySet<string>) {
    rememberAssets(assets);
    const next = new Set([...baseSelection, ...assets.map(({ id }) => id)]);
    const manual = reading?.manual ?? new Map<string, boolean>();
    for (const [id, willSelect] of manual) {
      if (willSelect) next.add(id);
      else next.delete(id);
    }
    store.replace(next);
    last = { selected: store.ids(), baseSelection: manual.size > 0 ? next : baseSelection };
  }
  function abortReading() {
    if (!reading) return;
    reading.abort.abort();
    reading = undefined;
    onReading(false);
  }
  /** `take` is not called if another read has replaced this one. */
  async function readAssets({ from, to, requestedCount }: Range, take: (assets: readonly AssetView[]) => void): Promise<void> {
    abortReading();
    const abort = new AbortController();
    reading = { abort, manual: new Map() };
    onReading(true);
    const assets = (await source?.range(from, to, abort.signal)) ?? [];
    if (abort.signal.aborted) return;
    const count = assets.length;
    if (count < requestedCount)
      onShortage({ why: count < to - from ? "unread" : count === MAX_IN_RANGE ? "bound" : "page", count, requestedCount });
    take(assets);
    abortReading();
  }

  // Clearing the selection cancels the read that would restore it.
  store.subscribe(() => {
    if (store.ids().size === 0 && !store.isMatching()) abortReading();
  });

  return {
    /** Sets the current list. */
    follow: (next: AssetsSource) => void (source = next),
    /** Toggles one asset. Removing it from "all matching" keeps the others. */
    toggle(index: number): void {
      const asset = source?.at(index);
      if (!source || !asset) return;
      anchor = index;
      rememberAssets([asset]);
      const willSelect = !store.has(asset.id);
      if (store.isMatching() && !reading) {
        const all = { from: 0, to: Math.min(source.count, MAX_IN_RANGE), requestedCount: Math.max(source.count, source.total ?? 0) };
        void readAssets(all, (assets) => select(assets, new Set()));
      }
      reading?.manual.set(asset.id, willSelect);
      if (store.isMatching()) store.leaveOut([...(reading?.manual ?? [])].flatMap(([id, isChosen]) => (isChosen ? [] : id)));
      else store.select(asset.id, willSelect);
    },
    /** Selects from the last selected asset to this one and replaces the last range. Loads missing rows. */
    async extend(index: number): Promise<void> {
      if (!source || store.isMatching()) return;
      if (anchor === undefined || store.ids().size === 0) {
        anchor = index;
        const asset = source.at(index);
        abortReading();
        return asset && select([asset], new Set());
      }
      const selected = store.ids();
      const baseSelection = last?.selected === selected ? last.baseSelection : selected;
      await readAssets(rangeBetween(anchor, index), (assets) => select(assets, baseSelection));
    },
    /** While a rubber band is drawn: adds the loaded rows under it to the initial selection. */
    band(indices: readonly number[], before: ReadonlySet<string>): void {
      anchor = indices[0] ?? anchor;
      abortReading();
      const loaded = indices.flatMap((index) => source?.at(index) ?? []);
      select(loaded, before);
    },
    /** When the band is released: loads the missing rows under it. */
    async settle(indices: readonly number[], before: ReadonlySet<string>): Promise<void> {
      const [first, end] = [indices[0], indices.at(-1)];
      if (first === undefined || end === undefined || indices.every((index) => source?.at(index))) return;
      anchor = first;
      // Assets next to the band in the same rows are loaded but not selected.
      await readAssets(rangeBetween(first, end), (assets) => {
        const underBand = indices.flatMap((index) => assets[index - first] ?? []);
        select(underBand, before);
      });
    },
    /** Selects all that match, on all pages. */
    all(): void {
      abortReading();
      store.list(source?.rows().map(({ id }) => id) ?? []);
      store.selectMatching();
    },
    /** The selected assets that were ever loaded, including those far out of view. */
    chosen(): AssetView[] {
      rememberAssets(source?.rows() ?? []);
      return [...store.ids()].flatMap((id) => assetsById.get(id) ?? []);
    },
    /** Clears the selection, since it belongs to another list. */
    release(): void {
      abortReading();
      store.clear();
      assetsById.clear();
      anchor = undefined;
    },
  };
}

/** Both ends are inclusive, in either direction. The limit counts from `anchor`. */
function rangeBetween(anchor: number, index: number): Range {
  const requestedCount = Math.abs(index - anchor) + 1;
  const count = Math.min(requestedCount, MAX_IN_RANGE);
  const from = index < anchor ? anchor + 1 - count : anchor;
  return { from, to: from + count, requestedCount };
}

type TileKeys = {
  gallery: GalleryView<{ columns: number; rowPx: number }>;
  source: AssetsSource;
  picking: Picking;
  inView: () => number[];
  columns: number;
  current: number | undefined;
  onCurrent: (index: number) => void;
  openId: string | undefined;
  onOpen: (id: string) => boolean;
  onPage: (id: string) => void;
  onView: (index: number) => void;
};

const repeatableKeys = new Set(["j", "k"]);
/** Keys that don't repeat while held down. */
const singleKeys = new Set(["x", " ", "i", "Enter"]);

/** Arrows, j and k move through the list, and with Shift select; x selects, i opens the panel, Enter the page, Space the viewer. */
export function useTileKeys({
  gallery,
  source,
  picking,
  inView,
  columns,
  current,
  onCurrent,
  openId,
  onOpen,
  onPage,
  onView,
}: TileKeys): void {
  function focus(index: number) {
    // Rendered first, so that the tile exists and keeps the focus.
    flushSync(() => onCurrent(index));
    gallery.reveal(index);
    gallery.container.current?.querySelector<HTMLElement>(`a[data-index="${index}"]`)?.focus({ preventScroll: true });
    const id = source.at(index)?.id;
    // An open panel follows the keys.
    if (openId !== undefined && id !== undefined && id !== openId) onOpen(id);
  }
  useAllTilesKey({ source, picking, inView, list: gallery.container });
  const handleKey = (event: KeyboardEvent) => {
    if (!isFreeKey(event)) return false;
    const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
    const focusedIndex = isInside(gallery, document.activeElement) ? getTileIndex(document.activeElement) : undefined;
    if (focusedIndex === undefined) {
      if (!repeatableKeys.has(key) || source.count === 0) return false;
      // Starts at the last focused tile if it is still drawn, otherwise at the scroll position.
      focus(
        current !== undefined && gallery.container.current?.querySelector(`a[data-index="${current}"]`) ? current : gallery.firstIndex(),
      );
      return true;
    }
    if (event.repeat && singleKeys.has(key)) return true;
    const asset = source.at(focusedIndex);
    if (key === "x") picking.toggle(focusedIndex);
    else if (key === " ") onView(focusedIndex);
    else if (key === "i" || key === "Enter") {
      if (asset && (key === "Enter" || !onOpen(asset.id))) onPage(asset.id);
    } else {
      const rowsInView = Math.max(1, Math.floor((window.innerHeight - 160) / (gallery.rendered?.rowPx ?? 160)));
      const next = nextTile(key, focusedIndex, { count: source.count, columns, rowsInView });
      if (next === undefined) return false;
      if (event.shiftKey && picking.store.ids().size === 0) picking.toggle(focusedIndex);
      focus(next);
      if (event.shiftKey) void picking.extend(next);
    }
    return true;
  };
  usePageKey((event) => {
    if (!event.defaultPrevented && handleKey(event)) event.preventDefault();
  });
}

function isInside(gallery: TileKeys["gallery"], element: Element | null): boolean {
  return element !== null && gallery.container.current?.contains(element) === true && getTileIndex(element) !== undefined;
}

function getTileIndex(element: Element | null): number | undefined {
  const text = element instanceof HTMLElement ? element.dataset.index : undefined;
  return text === undefined ? undefined : Number(text);
}

/** The index that a key moves to from `at`. Undefined for other keys. */
export function nextTile(key: string, at: number, { count, columns, rowsInView }: { count: number; columns: number; rowsInView: number }) {
  const last = count - 1;
  if (at < 0 || last < 0) return undefined;
  const moveDown = (rows: number) => {
    const to = at + rows * columns;
    // The last row may be shorter.
    return to <= last ? to : Math.floor(at / columns) < Math.floor(last / columns) ? last : at;
  };
  const moveUp = (rows: number) => (at - rows * columns >= 0 ? at - rows * columns : at % columns);
  switch (key) {
    case "ArrowRight":
    case "j":
      return Math.min(last, at + 1);
    case "ArrowLeft":
    case "k":
      return Math.max(0, at - 1);
    case "ArrowDown":
      return moveDown(1);
    case "ArrowUp":
      return at - columns >= 0 ? at - columns : at;
    case "PageDown":
      return moveDown(rowsInView);
    case "PageUp":
      return moveUp(rowsInView);
    case "Home":
      return 0;
    case "End":
      return last;
    default:
      return undefined;
  }
}

type AllTilesKey = {
  source: Pick<AssetsSource, "at">;
  picking: Pick<Picking, "store" | "band" | "all">;
  inView: () => number[];
  list: RefObject<HTMLElement | null>;
};

/** Ctrl A or ⌘ A selects visible tiles; pressed again, all matching ones. */
export function useAllTilesKey({ source, picking, inView, list }: AllTilesKey): void {
  useAllKey(
    () => picking.store.ids().size > 0 || list.current?.contains(document.activeElement) === true,
    () => {
      const visibleIndexes = inView();
      if (visibleIndexes.every((index) => picking.store.has(source.at(index)?.id ?? ""))) picking.all();
      else picking.band(visibleIndexes, picking.store.ids());
    },
  );
}
