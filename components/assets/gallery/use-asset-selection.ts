import { useTranslations } from "next-intl";
import { type RefObject, useEffect, useEffectEvent, useMemo, useState } from "react";
import { flushSync } from "react-dom";
import { createSelection, type SelectionStore, useSelectAllKey } from "@/components/data-table/selection";
import { isShortcutKey, usePageKey } from "@/components/ui/hooks/page-events";
import { showToast } from "@/components/ui/toast-store";
import { type AssetView } from "@/lib/contract/views/asset-view";
import { type AssetsSource } from "./chunk-store";
import { type GalleryView } from "./use-gallery";

export type AssetSelection = Omit<SelectionController, "setSource" | "reset"> & { store: SelectionStore; isLoading: boolean };

/** Clears the selection when the filters change. */
export function useAssetSelection(source: AssetsSource, listKey: string): AssetSelection {
  const t = useTranslations("assets.bulk");
  const [store] = useState(createSelection);
  const [isLoading, setLoading] = useState(false);
  const [shortage, setShortage] = useState<PartialSelection>();
  const [controller] = useState(() => createSelectionController(store, { onLoadingChange: setLoading, onShortage: setShortage }));
  const showShortage = useEffectEvent(({ reason, count, requestedCount }: PartialSelection) =>
    showToast({ tone: "wait", text: t(`short.${reason}`, { count, requested: requestedCount }) }),
  );
  useEffect(() => {
    if (shortage) showShortage(shortage);
  }, [shortage]);
  useEffect(() => controller.setSource(source), [controller, source]);
  useEffect(() => controller.reset, [listKey, controller]);
  return useMemo(() => ({ ...controller, store, isLoading }), [controller, store, isLoading]);
}

// Selects rows by index in a partly loaded list: single rows, ranges, rubber bands, or all except deselected rows.
// A new read aborts the previous one. Rows that are deselected during a read stay deselected.

/** Maximum rows per drag or range, loaded or not. */
const MAX_RANGE_ROWS = 10_000;

/** Why fewer rows were selected than requested: the range limit, a failed read, or the end of the page. */
type PartialSelection = { reason: "bound" | "unread" | "page"; count: number; requestedCount: number };
type SelectionCallbacks = { onLoadingChange: (isLoading: boolean) => void; onShortage: (shortage: PartialSelection) => void };

/** `to` is exclusive. `requestedCount`: the size before any limit. */
type Range = { from: number; to: number; requestedCount: number };
/** `manualChanges`: individually toggled assets, which override the read. */
type PendingRead = { controller: AbortController; manualChanges: Map<string, boolean> };

type SelectionController = ReturnType<typeof createSelectionController>;

function createSelectionController(store: SelectionStore, { onLoadingChange, onShortage }: SelectionCallbacks) {
  let source: AssetsSource | undefined;
  const assetsById = new Map<string, AssetView>();
  /** The start of a range: the last selected index. */
  let anchor: number | undefined;
  /** The last selected range. The next range replaces it, but keeps its `baseSelection`. */
  let lastRange: { selectedIds: ReadonlySet<string>; baseSelection: ReadonlySet<string> } | undefined;
  let pendingRead: PendingRead | undefined;

  function cacheAssets(assets: readonly AssetView[]) {
    for (const asset of assets) assetsById.set(asset.id, asset);
  }
  function select(assets: readonly AssetView[], baseSelection: ReadonlySet<string>) {
    cacheAssets(assets);
    const newIds = new Set([...baseSelection, ...assets.map(({ id }) => id)]);
    const manualChanges = pendingRead?.manualChanges ?? new Map<string, boolean>();
    for (const [id, willSelect] of manualChanges) {
      if (willSelect) newIds.add(id);
      else newIds.delete(id);
    }
    store.replace(newIds);
    lastRange = { selectedIds: store.getIds(), baseSelection: manualChanges.size > 0 ? newIds : baseSelection };
  }
  function abortPendingRead() {
    if (!pendingRead) return;
    pendingRead.controller.abort();
    pendingRead = undefined;
    onLoadingChange(false);
  }
  /** Doesn't call `onLoaded` if another read has replaced this one. */
  async function readAssets({ from, to, requestedCount }: Range, onLoaded: (assets: readonly AssetView[]) => void): Promise<void> {
    abortPendingRead();
    const controller = new AbortController();
    pendingRead = { controller, manualChanges: new Map() };
    onLoadingChange(true);
    const assets = (await source?.loadRange(from, to, controller.signal)) ?? [];
    if (controller.signal.aborted) return;
    const count = assets.length;
    if (count < requestedCount)
      onShortage({ reason: count < to - from ? "unread" : count === MAX_RANGE_ROWS ? "bound" : "page", count, requestedCount });
    onLoaded(assets);
    abortPendingRead();
  }

  // Clearing the selection cancels the read that would restore it.
  store.subscribe(() => {
    if (store.getIds().size === 0 && !store.isMatching()) abortPendingRead();
  });

  return {
    /** Sets the current list. */
    setSource: (newSource: AssetsSource) => void (source = newSource),
    /** Toggles one asset. If all matching assets are selected, deselecting one keeps the others. */
    toggle(index: number): void {
      const asset = source?.at(index);
      if (!source || !asset) return;
      anchor = index;
      cacheAssets([asset]);
      const willSelect = !store.has(asset.id);
      if (store.isMatching() && !pendingRead) {
        const range = { from: 0, to: Math.min(source.count, MAX_RANGE_ROWS), requestedCount: Math.max(source.count, source.total ?? 0) };
        void readAssets(range, (assets) => select(assets, new Set()));
      }
      pendingRead?.manualChanges.set(asset.id, willSelect);
      if (store.isMatching()) store.exclude([...(pendingRead?.manualChanges ?? [])].flatMap(([id, isSelected]) => (isSelected ? [] : id)));
      else store.select(asset.id, willSelect);
    },
    /** Selects from the last selected asset to this one and replaces the last range. Loads missing rows. */
    async extendTo(index: number): Promise<void> {
      if (!source || store.isMatching()) return;
      if (anchor === undefined || store.getIds().size === 0) {
        anchor = index;
        const asset = source.at(index);
        abortPendingRead();
        return asset && select([asset], new Set());
      }
      const selectedIds = store.getIds();
      const baseSelection = lastRange?.selectedIds === selectedIds ? lastRange.baseSelection : selectedIds;
      await readAssets(getRangeBetween(anchor, index), (assets) => select(assets, baseSelection));
    },
    /** While a rubber band is drawn: adds the loaded rows under it to the initial selection. */
    updateBand(indexes: readonly number[], initialSelection: ReadonlySet<string>): void {
      anchor = indexes[0] ?? anchor;
      abortPendingRead();
      const loadedAssets = indexes.flatMap((index) => source?.at(index) ?? []);
      select(loadedAssets, initialSelection);
    },
    /** When the band is released: loads the missing rows under it. */
    async finishBand(indexes: readonly number[], initialSelection: ReadonlySet<string>): Promise<void> {
      const [firstIndex, lastIndex] = [indexes[0], indexes.at(-1)];
      if (firstIndex === undefined || lastIndex === undefined || indexes.every((index) => source?.at(index))) return;
      anchor = firstIndex;
      // Assets next to the band in the same rows are loaded but not selected.
      await readAssets(getRangeBetween(firstIndex, lastIndex), (assets) => {
        const assetsInBand = indexes.flatMap((index) => assets[index - firstIndex] ?? []);
        select(assetsInBand, initialSelection);
      });
    },
    /** Selects all matching assets on all pages. */
    selectAll(): void {
      abortPendingRead();
      store.setRows(source?.getRows().map(({ id }) => id) ?? []);
      store.selectMatching();
    },
    /** The selected assets that were ever loaded, including those far out of view. */
    getSelectedAssets(): AssetView[] {
      cacheAssets(source?.getRows() ?? []);
      return [...store.getIds()].flatMap((id) => assetsById.get(id) ?? []);
    },
    /** Clears the selection when the list changes. */
    reset(): void {
      abortPendingRead();
      store.clear();
      assetsById.clear();
      anchor = undefined;
    },
  };
}

/** Both ends are inclusive, in either direction. The limit counts from `anchor`. */
function getRangeBetween(anchor: number, index: number): Range {
  const requestedCount = Math.abs(index - anchor) + 1;
  const count = Math.min(requestedCount, MAX_RANGE_ROWS);
  const from = index < anchor ? anchor + 1 - count : anchor;
  return { from, to: from + count, requestedCount };
}

type TileKeyOptions = {
  gallery: GalleryView<{ columns: number; rowPx: number }>;
  source: AssetsSource;
  selection: AssetSelection;
  getVisibleIndexes: () => number[];
  columns: number;
  currentIndex: number | undefined;
  onCurrentChange: (index: number) => void;
  openId: string | undefined;
  onOpen: (id: string) => boolean;
  onPage: (id: string) => void;
  onView: (index: number) => void;
};

const entryKeys = new Set(["j", "k"]);
/** Keys that don't repeat while held down. */
const singleKeys = new Set(["x", " ", "i", "Enter"]);

/** Arrow keys, j and k move through the list, and select with Shift. x selects, i opens the panel, Enter the page and Space the viewer. */
export function useTileKeys({
  gallery,
  source,
  selection,
  getVisibleIndexes,
  columns,
  currentIndex,
  onCurrentChange,
  openId,
  onOpen,
  onPage,
  onView,
}: TileKeyOptions): void {
  function focusTile(index: number) {
    // Render synchronously so the tile exists before it gets focus.
    flushSync(() => onCurrentChange(index));
    gallery.reveal(index);
    gallery.container.current?.querySelector<HTMLElement>(`a[data-index="${index}"]`)?.focus({ preventScroll: true });
    const id = source.at(index)?.id;
    // Show the focused asset in the open panel.
    if (openId !== undefined && id !== undefined && id !== openId) onOpen(id);
  }
  useSelectAllTilesShortcut({ source, selection, getVisibleIndexes, list: gallery.container });
  const handleKey = (event: KeyboardEvent) => {
    if (!isShortcutKey(event)) return false;
    const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
    const focusedIndex = isInside(gallery, document.activeElement) ? getTileIndex(document.activeElement) : undefined;
    if (focusedIndex === undefined) {
      if (!entryKeys.has(key) || source.count === 0) return false;
      // Starts at the last focused tile if it is still drawn, otherwise at the scroll position.
      focusTile(
        currentIndex !== undefined && gallery.container.current?.querySelector(`a[data-index="${currentIndex}"]`)
          ? currentIndex
          : gallery.getFirstIndex(),
      );
      return true;
    }
    if (event.repeat && singleKeys.has(key)) return true;
    const asset = source.at(focusedIndex);
    if (key === "x") selection.toggle(focusedIndex);
    else if (key === " ") onView(focusedIndex);
    else if (key === "i" || key === "Enter") {
      if (asset && (key === "Enter" || !onOpen(asset.id))) onPage(asset.id);
    } else {
      const rowsInView = Math.max(1, Math.floor((window.innerHeight - 160) / (gallery.rendered?.rowPx ?? 160)));
      const nextIndex = getNextTileIndex(key, focusedIndex, { count: source.count, columns, rowsInView });
      if (nextIndex === undefined) return false;
      if (event.shiftKey && selection.store.getIds().size === 0) selection.toggle(focusedIndex);
      focusTile(nextIndex);
      if (event.shiftKey) void selection.extendTo(nextIndex);
    }
    return true;
  };
  usePageKey((event) => {
    if (!event.defaultPrevented && handleKey(event)) event.preventDefault();
  });
}

function isInside(gallery: TileKeyOptions["gallery"], element: Element | null): boolean {
  return element !== null && gallery.container.current?.contains(element) === true && getTileIndex(element) !== undefined;
}

function getTileIndex(element: Element | null): number | undefined {
  const text = element instanceof HTMLElement ? element.dataset.index : undefined;
  return text === undefined ? undefined : Number(text);
}

/** Returns the index that a key moves to from `index`. Undefined for other keys. */
export function getNextTileIndex(
  key: string,
  index: number,
  { count, columns, rowsInView }: { count: number; columns: number; rowsInView: number },
) {
  const lastIndex = count - 1;
  if (index < 0 || lastIndex < 0) return undefined;
  const moveDown = (rows: number) => {
    const targetIndex = index + rows * columns;
    // The last row may be shorter.
    return targetIndex <= lastIndex ? targetIndex : Math.floor(index / columns) < Math.floor(lastIndex / columns) ? lastIndex : index;
  };
  const moveUp = (rows: number) => (index - rows * columns >= 0 ? index - rows * columns : index % columns);
  switch (key) {
    case "ArrowRight":
    case "j":
      return Math.min(lastIndex, index + 1);
    case "ArrowLeft":
    case "k":
      return Math.max(0, index - 1);
    case "ArrowDown":
      return moveDown(1);
    case "ArrowUp":
      return index - columns >= 0 ? index - columns : index;
    case "PageDown":
      return moveDown(rowsInView);
    case "PageUp":
      return moveUp(rowsInView);
    case "Home":
      return 0;
    case "End":
      return lastIndex;
    default:
      return undefined;
  }
}

type AllTilesKeyOptions = {
  source: Pick<AssetsSource, "at">;
  selection: Pick<AssetSelection, "store" | "updateBand" | "selectAll">;
  getVisibleIndexes: () => number[];
  list: RefObject<HTMLElement | null>;
};

/** Ctrl+A or ⌘A selects the visible tiles. Pressing it again selects all matching assets. */
export function useSelectAllTilesShortcut({ source, selection, getVisibleIndexes, list }: AllTilesKeyOptions): void {
  useSelectAllKey(
    () => selection.store.getIds().size > 0 || list.current?.contains(document.activeElement) === true,
    () => {
      const visibleIndexes = getVisibleIndexes();
      if (visibleIndexes.every((index) => selection.store.has(source.at(index)?.id ?? ""))) selection.selectAll();
      else selection.updateBand(visibleIndexes, selection.store.getIds());
    },
  );
}
