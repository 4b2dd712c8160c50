import { type KeyboardEvent, type PointerEvent } from "react";
import { type Sizing } from "./table-columns";

const NARROWEST_PX = 48;
const WIDEST_PX = 800;
const STEP_PX = 16;

const bounded = (px: number) => Math.round(Math.min(WIDEST_PX, Math.max(NARROWEST_PX, px)));

/** The right edge of a header: dragged, or moved by the arrow keys. */
export function ResizeHandle({ id, px, sizing }: { id: string; px: number | undefined; sizing: Sizing }) {
  function drag(event: PointerEvent<HTMLElement>) {
    const cell = event.currentTarget.closest("th");
    if (!cell || event.button !== 0) return;
    event.preventDefault();
    const handle = event.currentTarget;
    const from = { x: event.clientX, width: cell.offsetWidth };
    const widthAt = (x: number) => bounded(from.width + x - from.x);
    // During the drag the column's width is set directly; the rows are updated once, at the end.
    const cells = [cell, ...cellsBelow(cell)];
    const move = ({ clientX }: globalThis.PointerEvent) => {
      for (const { style } of cells) Object.assign(style, { width: `${widthAt(clientX)}px`, flex: "none" });
    };
    const end = ({ clientX, type }: globalThis.PointerEvent) => {
      handle.removeEventListener("pointermove", move);
      handle.removeEventListener("pointerup", end);
      handle.removeEventListener("pointercancel", end);
      if (type === "pointerup" && clientX !== from.x) sizing.onResize(id, widthAt(clientX));
    };
    handle.setPointerCapture(event.pointerId);
    handle.addEventListener("pointermove", move);
    handle.addEventListener("pointerup", end);
    handle.addEventListener("pointercancel", end);
  }
  function press(event: KeyboardEvent<HTMLElement>) {
    const change = { ArrowLeft: -STEP_PX, ArrowRight: STEP_PX }[event.key];
    const cell = event.currentTarget.closest("th");
    if (change === undefined || !cell) return;
    event.preventDefault();
    sizing.onResize(id, bounded(cell.offsetWidth + change));
  }
  return (
    <span
      role="slider"
      tabIndex={0}
      aria-label={sizing.label(id)}
      aria-orientation="horizontal"
      aria-valuemin={NARROWEST_PX}
      aria-valuemax={WIDEST_PX}
      aria-valuenow={px ?? NARROWEST_PX}
      aria-valuetext={px === undefined ? sizing.defaultWidth : `${px} px`}
      onPointerDown={drag}
      onKeyDown={press}
      className="resize-handle max-md:hidden"
    />
  );
}

/** In a long table rows are not laid out by the table itself, so their cells need widths of their own. */
function cellsBelow(cell: HTMLTableCellElement): HTMLElement[] {
  const rows = [...(cell.closest<HTMLTableElement>("table.long-rows")?.rows ?? [])];
  return rows.flatMap((row) => row.cells[cell.cellIndex] ?? []);
}
