import { useEffect, useEffectEvent, useRef, useState } from "react";
import { type AssetsSource } from "./chunk-store";
import { type GalleryLayout, GAP_X, GAP_Y } from "./gallery-layout";
import { type AssetSelection } from "./use-asset-selection";
import { type GalleryView } from "./use-gallery";

type Point = { x: number; y: number };
type Drag = {
  from: Point;
  to: Point;
  clientX: number;
  clientY: number;
  initialSelection: ReadonlySet<string>;
  tileIndexes: readonly number[];
  hasStarted: boolean;
};

const DRAG_THRESHOLD_PX = 6;
const AUTO_SCROLL_EDGE_PX = 48;
const MAX_AUTO_SCROLL_PX = 22;

/** Dragging with a mouse selects the tiles under the band. Shift or Ctrl adds to the selection. */
export function RubberBand({
  gallery,
  source,
  selection,
}: {
  gallery: GalleryView<GalleryLayout>;
  source: AssetsSource;
  selection: AssetSelection;
}) {
  const drag = useRef<Drag>(undefined);
  const [box, setBox] = useState<{ left: number; top: number; width: number; height: number }>();
  const updateSelection = useEffectEvent(() => {
    const activeDrag = drag.current;
    const layout = gallery.rendered;
    if (!activeDrag?.hasStarted || !layout) return;
    activeDrag.to = gallery.toListPoint(activeDrag.clientX, activeDrag.clientY);
    const { widthPx } = gallery.toListPoint(0, 0);
    activeDrag.tileIndexes = findTilesUnder(activeDrag.from, activeDrag.to, { ...layout, widthPx, count: source.count });
    selection.updateBand(activeDrag.tileIndexes, activeDrag.initialSelection);
    // Converts positions in the list to positions in the page, which is shorter than a very long list.
    const pageOffsetPx = layout.topPx - layout.from * layout.rowPx;
    const [left, top] = [Math.min(activeDrag.from.x, activeDrag.to.x), Math.min(activeDrag.from.y, activeDrag.to.y)];
    setBox({
      left,
      top: top + pageOffsetPx,
      width: Math.abs(activeDrag.to.x - activeDrag.from.x),
      height: Math.abs(activeDrag.to.y - activeDrag.from.y),
    });
  });
  const finishSelection = useEffectEvent(
    ({ tileIndexes, initialSelection }: Drag) => void selection.finishBand(tileIndexes, initialSelection),
  );
  const startDrag = useEffectEvent((event: PointerEvent) => {
    const isOnControl = event.target instanceof Element && event.target.closest("label, input, button");
    if (event.button !== 0 || event.pointerType !== "mouse" || isOnControl) return;
    const from = gallery.toListPoint(event.clientX, event.clientY);
    const initialSelection: ReadonlySet<string> =
      event.shiftKey || event.ctrlKey || event.metaKey ? new Set(selection.store.getIds()) : new Set();
    drag.current = { from, to: from, clientX: event.clientX, clientY: event.clientY, initialSelection, tileIndexes: [], hasStarted: false };
  });

  const { container, toListPoint } = gallery;
  useEffect(() => {
    const element = container.current;
    if (!element) return;
    let frame = 0;
    const onDown = (event: PointerEvent) => startDrag(event);
    function autoScroll() {
      frame = 0;
      const currentDrag = drag.current;
      if (!currentDrag?.hasStarted) return;
      const overshootPx =
        Math.max(0, currentDrag.clientY - (window.innerHeight - AUTO_SCROLL_EDGE_PX)) -
        Math.max(0, 120 + AUTO_SCROLL_EDGE_PX - currentDrag.clientY);
      if (overshootPx !== 0) {
        window.scrollBy({ top: Math.sign(overshootPx) * Math.min(MAX_AUTO_SCROLL_PX, Math.abs(overshootPx) / 2), behavior: "instant" });
        updateSelection();
      }
      frame = requestAnimationFrame(autoScroll);
    }
    function onMove(event: PointerEvent) {
      const currentDrag = drag.current;
      if (!currentDrag) return;
      [currentDrag.clientX, currentDrag.clientY] = [event.clientX, event.clientY];
      const to = toListPoint(event.clientX, event.clientY);
      if (!currentDrag.hasStarted && Math.hypot(to.x - currentDrag.from.x, to.y - currentDrag.from.y) < DRAG_THRESHOLD_PX) return;
      if (!currentDrag.hasStarted) frame ||= requestAnimationFrame(autoScroll);
      currentDrag.hasStarted = true;
      updateSelection();
    }
    function onUp() {
      const finishedDrag = drag.current;
      drag.current = undefined;
      setBox(undefined);
      if (!finishedDrag?.hasStarted) return;
      finishSelection(finishedDrag);
      // The click that ends a band must not activate the tile under it.
      const suppressClick = (event: MouseEvent) => {
        event.stopPropagation();
        event.preventDefault();
      };
      window.addEventListener("click", suppressClick, { capture: true, once: true });
      setTimeout(() => window.removeEventListener("click", suppressClick, { capture: true }), 0);
    }
    element.addEventListener("pointerdown", onDown);
    window.addEventListener("pointermove", onMove);
    window.addEventListener("pointerup", onUp);
    window.addEventListener("pointercancel", onUp);
    return () => {
      cancelAnimationFrame(frame);
      element.removeEventListener("pointerdown", onDown);
      window.removeEventListener("pointermove", onMove);
      window.removeEventListener("pointerup", onUp);
      window.removeEventListener("pointercancel", onUp);
    };
  }, [container, toListPoint]);

  return box ? (
    <div aria-hidden="true" style={box} className="pointer-events-none absolute z-10 rounded-sm border border-accent bg-accent/15" />
  ) : null;
}

type Grid = { columns: number; rowPx: number; picturePx: number; widthPx: number; count: number };

/** Returns the indexes of the tiles under a band between two points of the whole list, in list order. */
export function findTilesUnder(a: Point, b: Point, { columns, rowPx, widthPx, count }: Grid): number[] {
  const columnPx = (widthPx + GAP_X) / columns;
  const getSpan = (from: number, to: number, sizePx: number, gapPx: number, maxIndex: number) => {
    const [low, high] = [Math.min(from, to), Math.max(from, to)];
    // A gap is not part of any tile.
    const first = Math.floor(low / sizePx) + (low - Math.floor(low / sizePx) * sizePx > sizePx - gapPx ? 1 : 0);
    return { first: Math.max(0, first), last: Math.min(maxIndex, Math.floor(high / sizePx)) };
  };
  const columnSpan = getSpan(a.x, b.x, columnPx, GAP_X, columns - 1);
  const rowSpan = getSpan(a.y, b.y, rowPx, GAP_Y, Math.ceil(count / columns) - 1);
  const indexes: number[] = [];
  for (let row = rowSpan.first; row <= rowSpan.last; row += 1) {
    for (let column = columnSpan.first; column <= columnSpan.last; column += 1) {
      const index = row * columns + column;
      if (index < count) indexes.push(index);
    }
  }
  return indexes;
}
