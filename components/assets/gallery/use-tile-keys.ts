import { type RefObject } from "react";
import { flushSync } from "react-dom";
import { useAllKey } from "@/components/data-table/selection/selection";
import { isFreeKey, usePageKey } from "@/components/ui/hooks/page-keys";
import { type AssetsSource } from "./chunk-store";
import { type GalleryView } from "./use-gallery";
import { type Picking } from "./use-picking";

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
