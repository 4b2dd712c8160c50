import { type KeyboardEvent, type PointerEvent } from "react";
import { type Sizing } from "./table-columns";

const MIN_WIDTH_PX = 48;
const MAX_WIDTH_PX = 800;
const STEP_PX = 16;

const clampWidth = (px: number) => Math.round(Math.min(MAX_WIDTH_PX, Math.max(MIN_WIDTH_PX, px)));

/** Resizes a column by dragging the right edge of its header, or with the arrow keys. */
export function ResizeHandle({ id, px, sizing }: { id: string; px: number | undefined; sizing: Sizing }) {
  function startDrag(event: PointerEvent<HTMLElement>) {
    const cell = event.currentTarget.closest("th");
    if (!cell || event.button !== 0) return;
    event.preventDefault();
    const handle = event.currentTarget;
    const start = { x: event.clientX, width: cell.offsetWidth };
    const getWidth = (x: number) => clampWidth(start.width + x - start.x);
    // During the drag, the column's width is set directly. The rows are updated once, at the end.
    const cells = [cell, ...getCellsBelow(cell)];
    const handleMove = ({ clientX }: globalThis.PointerEvent) => {
      for (const { style } of cells) Object.assign(style, { width: `${getWidth(clientX)}px`, flex: "none" });
    };
    const handleEnd = ({ clientX, type }: globalThis.PointerEvent) => {
      handle.removeEventListener("pointermove", handleMove);
      handle.removeEventListener("pointerup", handleEnd);
      handle.removeEventListener("pointercancel", handleEnd);
      if (type === "pointerup" && clientX !== start.x) sizing.onResize(id, getWidth(clientX));
    };
    handle.setPointerCapture(event.pointerId);
    handle.addEventListener("pointermove", handleMove);
    handle.addEventListener("pointerup", handleEnd);
    handle.addEventListener("pointercancel", handleEnd);
  }
  function handleKeyDown(event: KeyboardEvent<HTMLElement>) {
    const deltaPx = { ArrowLeft: -STEP_PX, ArrowRight: STEP_PX }[event.key];
    const cell = event.currentTarget.closest("th");
    if (deltaPx === undefined || !cell) return;
    event.preventDefault();
    sizing.onResize(id, clampWidth(cell.offsetWidth + deltaPx));
  }
  return (
    <span
      role="slider"
      tabIndex={0}
      aria-label={sizing.getLabel(id)}
      aria-orientation="horizontal"
      aria-valuemin={MIN_WIDTH_PX}
      aria-valuemax={MAX_WIDTH_PX}
      aria-valuenow={px ?? MIN_WIDTH_PX}
      aria-valuetext={px === undefined ? sizing.defaultWidth : `${px} px`}
      onPointerDown={startDrag}
      onKeyDown={handleKeyDown}
      className="resize-handle max-md:hidden"
    />
  );
}

/** In long tables, rows are not laid out by the table, so their cells need explicit widths. */
function getCellsBelow(cell: HTMLTableCellElement): HTMLElement[] {
  const rows = [...(cell.closest<HTMLTableElement>("table.long-rows")?.rows ?? [])];
  return rows.flatMap((row) => row.cells[cell.cellIndex] ?? []);
}
