import { type Header, type ReactTable, type RowData } from "@tanstack/react-table";
import dynamic from "next/dynamic";
import { memo, type ReactNode, type RefObject, useEffect, useId, useMemo, useState, useSyncExternalStore } from "react";
import { flushSync } from "react-dom";
import { loadEmptyComponent } from "@/components/ui/skeleton";
import { useHydrated } from "@/components/ui/time";
import { type CellColumns, type Features, getHeadCellClass, type Sizing, type Sorting, toWidthStyle } from "./table-columns";

// Loaded after hydration. The list also works without handles.
const ResizeHandle = dynamic(() => import("./resize-handle").then((module) => module.ResizeHandle, loadEmptyComponent), { ssr: false });

type TableHeadProps<Row extends RowData> = {
  table: ReactTable<Features, Row>;
  sorting: Sorting | undefined;
  sizing: Sizing | undefined;
  isLong: boolean;
};

const ariaSort = { asc: "ascending", desc: "descending" } as const;
const sortArrows = { asc: "↑", desc: "↓" } as const;

export function TableHead<Row extends RowData>({ table, sorting, sizing, isLong }: TableHeadProps<Row>) {
  return (
    <thead role={isLong ? "rowgroup" : undefined}>
      {table.getHeaderGroups().map((group) => (
        <tr key={group.id} role={isLong ? "row" : undefined}>
          {group.headers.map((header) => (
            <HeadCell key={header.id} header={header} sort={sorting?.[header.id]} sizing={sizing} isLong={isLong}>
              <table.FlexRender header={header} />
            </HeadCell>
          ))}
        </tr>
      ))}
    </thead>
  );
}

type HeadCellProps<Row extends RowData> = {
  header: Header<Features, Row, unknown>;
  sort: Sorting[string] | undefined;
  sizing: Sizing | undefined;
  isLong: boolean;
  children: ReactNode;
};

function HeadCell<Row extends RowData>({ header, sort, sizing, isLong, children }: HeadCellProps<Row>) {
  const columnStyle = header.column.columnDef.meta;
  const px = sizing?.widths[header.id];
  // Without this, screen readers would read the handle's width as part of the column's name.
  const nameId = useId();
  const isResizable = sizing !== undefined && !columnStyle?.isFixedWidth;
  const isHydrated = useHydrated();
  return (
    <th
      scope="col"
      data-column={header.id}
      aria-labelledby={isResizable ? nameId : undefined}
      aria-sort={sort?.direction && ariaSort[sort.direction]}
      role={isLong ? "columnheader" : undefined}
      style={toWidthStyle(px)}
      className={getHeadCellClass(columnStyle, isLong)}
    >
      {sort ? (
        <button type="button" id={nameId} onClick={sort.onSort} className="rounded-sm hover:text-ink">
          {children}
          {sort.direction ? <span aria-hidden="true"> {sortArrows[sort.direction]}</span> : null}
        </button>
      ) : (
        <span id={nameId} className={columnStyle?.hiddenHeader ? "sr-only" : undefined}>
          {children}
        </span>
      )}
      {isResizable && isHydrated ? <ResizeHandle id={header.id} px={px} sizing={sizing} /> : null}
    </th>
  );
}

export type RowHighlights = { subscribe: (listener: () => void) => () => void; has: (id: string) => boolean };

/** Properties shared by all rows of a table. */
export type RowAppearance<Row extends RowData> = {
  rowId: (row: Row) => string;
  cellColumns: CellColumns<Row>;
  isBusy: ((row: Row) => boolean) | undefined;
  isSelected: ((row: Row) => boolean) | undefined;
  marks: RowHighlights | undefined;
  /** Rows are laid out as boxes, and need an explicit role. */
  isLong: boolean;
  /** Only part of the list is in the table, so each row needs an `aria-rowindex`. */
  isPart: boolean;
};

/** A function, so that a row is one component, not two. */
export function renderRow<Row extends RowData>(row: Row, appearance: RowAppearance<Row>, index: number): ReactNode {
  const { rowId, cellColumns, isBusy, isSelected, marks, isLong, isPart } = appearance;
  const id = rowId(row);
  return (
    <TableRow
      key={id}
      row={row}
      id={id}
      index={isPart ? index : undefined}
      cellColumns={cellColumns}
      isBusy={isBusy?.(row) ?? false}
      isSelected={isSelected?.(row) ?? false}
      marks={marks}
      isLong={isLong}
    />
  );
}

type TableRowProps<Row extends RowData> = {
  row: Row;
  id: string;
  index: number | undefined;
  cellColumns: CellColumns<Row>;
  isBusy: boolean;
  isSelected: boolean;
  marks: RowHighlights | undefined;
  isLong: boolean;
};

/** Re-renders only when its content changes, so updating one row of a thousand renders one. */
const TableRow = memo(TableRowView) as typeof TableRowView;

function TableRowView<Row extends RowData>({ row, id, index, cellColumns, isBusy, isSelected, marks, isLong }: TableRowProps<Row>) {
  const isHighlighted = useSyncExternalStore(marks?.subscribe ?? neverNotify, () => marks?.has(id) ?? false, alwaysFalse);
  // A changed mark does not render the cells. Cells are called as functions, because mounting them is slow.
  const cells = useMemo(() => {
    const model = cellColumns.createModel(row, id);
    return cellColumns.columns.map(({ id: columnId, renderCell, className, style }) => (
      <td key={columnId} role={isLong ? "cell" : undefined} className={className} style={style}>
        {renderCell(model)}
      </td>
    ));
  }, [cellColumns, row, id, isLong]);
  return (
    <tr
      data-row={id}
      role={isLong ? "row" : undefined}
      aria-rowindex={index === undefined ? undefined : index + 2}
      aria-busy={isBusy || undefined}
      data-selected={isSelected || isHighlighted || undefined}
      className="group"
    >
      {cells}
    </tr>
  );
}

const alwaysFalse = () => false;
const neverNotify = () => () => undefined;

/** Rows are rendered in groups, so that a new row renders only its own group. */
export const ROWS_PER_GROUP = 10;

/** The number of rows rendered by the server. More than fit on a tall screen. */
const INITIAL_ROW_COUNT = 30;
/** The time for rendering rows per frame. The browser needs about the same time for layout and paint. */
const FRAME_BUDGET_MS = 4;
/** While visible rows are missing, rendering rows takes precedence over frames. */
const URGENT_BUDGET_MS = 8;

/** Renders the rows near the viewport, within each frame's time budget. */
export function useRowWindow<Row>(table: RefObject<HTMLTableElement | null>, groupedRows: GroupedRows<Row>): RowWindow {
  const [rowWindow] = useState(() => createRowWindow(INITIAL_ROW_COUNT / ROWS_PER_GROUP));
  useEffect(() => {
    let frame = 0;
    const isPinned = (key: number) => document.activeElement?.closest("tbody")?.dataset.group === String(key);
    const update = () => {
      frame = 0;
      const view = measureView(table.current, groupedRows);
      if (view && runFrame(rowWindow, view, isPinned)) scheduleUpdate();
    };
    const scheduleUpdate = () => {
      frame ||= requestAnimationFrame(update);
    };
    scheduleUpdate();
    window.addEventListener("scroll", scheduleUpdate, { passive: true });
    window.addEventListener("resize", scheduleUpdate, { passive: true });
    return () => {
      cancelAnimationFrame(frame);
      window.removeEventListener("scroll", scheduleUpdate);
      window.removeEventListener("resize", scheduleUpdate);
    };
  }, [table, groupedRows, rowWindow]);
  return rowWindow;
}

/** Renders rows within the frame's budget. Returns whether work remains. Groups are dropped only when no rows are missing. */
function runFrame(rowWindow: RowWindow, view: View, isPinned: (key: number) => boolean): boolean {
  const deadlineMs = performance.now() + (rowWindow.hasIncompleteRow(view) ? URGENT_BUDGET_MS : FRAME_BUDGET_MS);
  let renderedCount = 0;
  // One group at a time, since two take longer than a frame on a slow machine.
  const renderNextRow = () => flushSync(() => rowWindow.completeNextRow(view));
  while ((renderedCount === 0 || performance.now() < deadlineMs) && renderNextRow()) renderedCount += 1;
  return renderedCount > 0 || rowWindow.dropFarGroup(view, isPinned);
}

function measureView<Row>(table: HTMLTableElement | null, { rows, base, groups }: GroupedRows<Row>): View | undefined {
  const top = table?.tBodies[0]?.getBoundingClientRect().top;
  const bottom = table?.tBodies[groups.length - 1]?.getBoundingClientRect().bottom;
  if (top === undefined || bottom === undefined || bottom <= top) return undefined;
  const rowPx = (bottom - top) / rows.length;
  return toView({ top, rowPx, screenPx: window.innerHeight, count: rows.length, base });
}

type ScrollGeometry = { top: number; rowPx: number; screenPx: number; count: number; base: number };

/** `top`: the first row's distance from the top of the screen. */
export function toView({ top, rowPx, screenPx, count, base }: ScrollGeometry): View {
  const toIndex = (px: number) => base + Math.min(count - 1, Math.max(0, Math.floor(px / rowPx)));
  return { from: toIndex(-top), to: toIndex(screenPx - top), first: base, last: base + count - 1 };
}

// Tracks which rows are complete, outside React's state, so that a new row renders only its group. Visible rows are completed first, then nearby
// ones. Each call completes one row, so that the caller can stop when the frame's budget is used up.

export type View = {
  from: number;
  to: number;
  first: number;
  last: number;
};

type Span = { from: number; to: number };

export type RowWindow = ReturnType<typeof createRowWindow>;

const emptySpan: Span = { from: 0, to: 0 };
const fullSpan: Span = { from: 0, to: ROWS_PER_GROUP };
const toGroupKey = (index: number) => Math.floor(index / ROWS_PER_GROUP);
const includesOffset = ({ from, to }: Span, offset: number) => offset >= from && offset < to;

/** `initialGroupCount`: the number of initially complete groups. */
export function createRowWindow(initialGroupCount: number) {
  const spans = new Map<number, Span>(Array.from({ length: initialGroupCount }, (_, key) => [key, fullSpan]));
  const listeners = new Map<number, () => void>();
  let firstKey = 0;
  const setSpan = (key: number, span: Span) => {
    if (span === emptySpan) spans.delete(key);
    else spans.set(key, span);
    listeners.get(key)?.();
  };
  const getSpan = (key: number): Span => spans.get(key) ?? (key < firstKey && spans.get(firstKey)?.from === 0 ? fullSpan : emptySpan);
  return {
    subscribe(key: number, listener: () => void): () => void {
      listeners.set(key, listener);
      return () => void (listeners.get(key) === listener && listeners.delete(key));
    },
    /** New rows above complete rows are complete immediately, so that they don't flicker. */
    getSpan,
    getInitialSpan: (key: number) => (key >= 0 && key < initialGroupCount ? fullSpan : emptySpan),
    /** Whether a visible row is incomplete. */
    hasIncompleteRow: ({ from, to, first, last }: View) =>
      findIncompleteRow({ from, to, first: Math.max(first, from), last: Math.min(last, to) }, getSpan) !== undefined,
    /** Completes the most urgent row. Returns false if there is none. */
    completeNextRow(view: View): boolean {
      for (let key = toGroupKey(view.first); key < firstKey; key += 1) if (getSpan(key) === fullSpan) spans.set(key, fullSpan);
      firstKey = toGroupKey(view.first);
      const missingIndex = findIncompleteRow(view, getSpan);
      if (missingIndex === undefined) return false;
      const key = toGroupKey(missingIndex);
      setSpan(key, growSpan(getSpan(key), key * ROWS_PER_GROUP, missingIndex, view));
      return true;
    },
    /** Drops a group far from the viewport. Returns false if there is none. A pinned group contains the focus. */
    dropFarGroup(view: View, isPinned: (key: number) => boolean): boolean {
      const key = [...spans.keys()].find((groupKey) => isFar(groupKey, view) && !isPinned(groupKey));
      if (key !== undefined) setSpan(key, emptySpan);
      return key !== undefined;
    },
  };
}

/** Grows the span by one row towards `index`. Rows beyond the ends of the list count as complete. */
function growSpan({ from, to }: Span, start: number, index: number, { first, last }: View): Span {
  const offset = index - start;
  const grownSpan = from === to ? { from: offset, to: offset + 1 } : offset < from ? { from: from - 1, to } : { from, to: to + 1 };
  const isFull = grownSpan.from <= Math.max(0, first - start) && grownSpan.to >= Math.min(ROWS_PER_GROUP, last - start + 1);
  return isFull ? fullSpan : grownSpan;
}

/** Finds the first incomplete row: visible rows first, then up to a screen below and above, in complete groups. */
function findIncompleteRow({ from, to, first, last }: View, getSpan: (key: number) => Span): number | undefined {
  const rowCount = to - from + 1;
  const end = Math.min(last, (toGroupKey(to + rowCount) + 1) * ROWS_PER_GROUP - 1);
  for (let index = from; index <= end;) {
    const start = toGroupKey(index) * ROWS_PER_GROUP;
    const span = getSpan(toGroupKey(index));
    if (!includesOffset(span, index - start)) return index;
    index = start + span.to;
  }
  const start = Math.max(first, toGroupKey(from - rowCount) * ROWS_PER_GROUP);
  for (let index = from - 1; index >= start;) {
    const groupStart = toGroupKey(index) * ROWS_PER_GROUP;
    const span = getSpan(toGroupKey(index));
    if (!includesOffset(span, index - groupStart)) return index;
    index = groupStart + span.from - 1;
  }
  return undefined;
}

/** Whether the group is far outside the prepared rows. The distance avoids rendering rows again when the user scrolls back and forth. */
function isFar(key: number, { from, to }: View): boolean {
  const maxDistance = (to - from + 1) * 1.5;
  return (key + 1) * ROWS_PER_GROUP < from - maxDistance || key * ROWS_PER_GROUP > to + maxDistance;
}

/** `key` is stable, since new rows above get their own groups. `first`: the list index of the first row. `offset`: its index within the group. */
export type RowGroup<Row> = { key: number; first: number; offset: number; rows: readonly Row[] };
/** `base`: the absolute position of the first row. Rows keep their absolute positions when new rows are added above. */
export type GroupedRows<Row> = { rows: readonly Row[]; base: number; groups: readonly RowGroup<Row>[] };

const noGroups: GroupedRows<never> = { rows: [], base: 0, groups: [] };

/** Unchanged rows reuse their groups, so changing one row of a thousand renders one group. */
export function groupRows<Row>(rows: readonly Row[], getId: (row: Row) => string, previous: GroupedRows<Row> = noGroups): GroupedRows<Row> {
  const base = getBase(rows, getId, previous);
  const groupsByKey = new Map(previous.groups.map((group) => [group.key, group]));
  const groups: RowGroup<Row>[] = [];
  for (let from = 0; from < rows.length;) {
    const key = Math.floor((base + from) / ROWS_PER_GROUP);
    const to = Math.min(rows.length, (key + 1) * ROWS_PER_GROUP - base);
    const previousGroup = groupsByKey.get(key);
    const slicedRows = rows.slice(from, to);
    const isSame = previousGroup?.rows.length === slicedRows.length && previousGroup.rows.every((row, index) => row === slicedRows[index]);
    groups.push(
      isSame && previousGroup.first === from
        ? previousGroup
        : { key, first: from, offset: base + from - key * ROWS_PER_GROUP, rows: slicedRows },
    );
    from = to;
  }
  return { rows, base, groups };
}

function getBase<Row>(rows: readonly Row[], getId: (row: Row) => string, previous: GroupedRows<Row>): number {
  const indexById = new Map(previous.rows.map((row, index) => [getId(row), index]));
  for (const [index, row] of rows.entries()) {
    const previousIndex = indexById.get(getId(row));
    if (previousIndex !== undefined) return previous.base + previousIndex - index;
  }
  return 0;
}
