// The library provides the columns and the header. Rows, selection and virtualization are custom.
// Each cell of the library is a component, so 1,000 rows take 1.5 times as long to render, and updating one row takes twice as long.
// The library's virtualizer is 10.4 kB gzipped instead of 2.1 kB, and breaks the browser's search.
// The selection is shared with the gallery, and includes matching rows on other pages.

import { type ColumnDef, type RowData, useTable } from "@tanstack/react-table";
import { memo, type MouseEvent, type RefObject, useCallback, useMemo, useRef, useState, useSyncExternalStore } from "react";
import { cn } from "@/components/ui/cn";
import { isShortcutKey, usePageKey } from "@/components/ui/hooks/page-events";
import { type Features, features, type Sizing, type Sorting, toCellColumns } from "./table-columns";
import {
  type GroupedRows,
  groupRows,
  renderRow,
  type RowAppearance,
  type RowGroup,
  type RowHighlights,
  type RowWindow,
  TableHead,
  useRowWindow,
} from "./table-rows";

type GroupRowsProps<Row extends RowData> = {
  group: RowGroup<Row>;
  rowWindow: RowWindow;
  appearance: RowAppearance<Row>;
  placeholderText: (row: Row) => string;
  /** The index of the first row in the whole list. */
  firstIndex: number;
};

/** A group of rows: complete near the viewport, plain text of the same height elsewhere. */
const GroupRows = memo(GroupRowsView) as typeof GroupRowsView;

function GroupRowsView<Row extends RowData>({ group, rowWindow, appearance, placeholderText, firstIndex }: GroupRowsProps<Row>) {
  const { key, first, offset, rows } = group;
  const subscribe = useCallback((listener: () => void) => rowWindow.subscribe(key, listener), [rowWindow, key]);
  const span = useSyncExternalStore(
    subscribe,
    () => rowWindow.getSpan(key),
    () => rowWindow.getInitialSpan(key),
  );
  const from = Math.max(0, span.from - offset);
  const to = Math.max(from, Math.min(rows.length, span.to - offset));
  const { isLong } = appearance;
  return (
    <tbody
      data-group={key}
      role={isLong ? (from < to ? "rowgroup" : "none") : undefined}
      style={isLong ? { height: getHeight(rows.length) } : undefined}
    >
      {from > 0 ? <PlaceholderRows rows={rows.slice(0, from)} placeholderText={placeholderText} /> : null}
      {rows.slice(from, to).map((row, index) => renderRow(row, appearance, firstIndex + first + from + index))}
      {to < rows.length ? <PlaceholderRows rows={rows.slice(to)} placeholderText={placeholderText} /> : null}
    </tbody>
  );
}

const getHeight = (count: number) => `calc(var(--row-height) * ${count})`;

type PlaceholderRowsProps<Row> = { rows: readonly Row[]; placeholderText: (row: Row) => string };

/** Plain text in place of rows, shown during fast scrolling and found by the browser's search. */
function PlaceholderRows<Row>({ rows, placeholderText }: PlaceholderRowsProps<Row>) {
  return (
    <tr role="none" className="light-rows">
      {/* A single cell, since a column span would show columns that narrow screens hide. */}
      <td role="none" className="whole-cell">
        <div aria-hidden="true" style={{ height: getHeight(rows.length) }}>
          {rows.map(placeholderText).join("\n")}
        </div>
      </td>
    </tr>
  );
}

type DataTableProps<Row extends RowData> = {
  /** Read by screen readers before the table; not visible. */
  caption: string;
  // The library's type for columns with different value types.
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- ColumnDef is invariant in its value; the library types column lists this way itself
  columns: ColumnDef<Features, Row, any>[];
  rows: readonly Row[];
  rowId: (row: Row) => string;
  isSelected?: (row: Row) => boolean;
  /** Replaces `isSelected` in long lists. A changed mark renders only its own row. */
  marks?: RowHighlights;
  isBusy?: (row: Row) => boolean;
  /** The text of a row. If set, rows far from the viewport are plain text, which the browser's search still finds. */
  placeholderText?: (row: Row) => string;
  /** Set if `rows` is part of a longer list. */
  part?: { first: number; total: number };
  /** Handles clicks on all rows, with any mouse button. */
  onClick?: (event: MouseEvent<HTMLElement>) => void;
  sorting?: Sorting;
  sizing?: Sizing;
  /** Makes column widths independent of the content. All columns except one must have a width. */
  isFixed?: boolean;
  isCompact?: boolean;
  className?: string;
};

const noRows: never[] = [];

/** Rows are keyed by id, so that new data does not change the scroll position or focus. */
export function DataTable<Row extends RowData>(props: DataTableProps<Row>) {
  const { caption, columns, rows, rowId, isSelected, marks, isBusy, placeholderText, part, onClick, sorting, sizing } = props;
  const element = useRef<HTMLTableElement>(null);
  useRowKeys(element);
  // The library gets no rows: they are created where they are rendered.
  const table = useTable<Features, Row>({ features, columns, data: noRows, getRowId: rowId });
  const isLong = placeholderText !== undefined && props.isFixed === true;
  const leafColumns = table.getAllLeafColumns();
  const widths = sizing?.widths;
  const cellColumns = useMemo(() => toCellColumns(table, leafColumns, isLong, widths), [table, leafColumns, isLong, widths]);
  const isPart = part !== undefined || placeholderText !== undefined;
  const appearance = useMemo(
    () => ({ rowId, cellColumns, isBusy, isSelected, marks, isLong, isPart }),
    [rowId, cellColumns, isBusy, isSelected, marks, isLong, isPart],
  );
  const firstIndex = part?.first ?? 0;
  return (
    <table
      ref={element}
      role={isLong ? "table" : undefined}
      aria-rowcount={part ? part.total + 1 : placeholderText ? rows.length + 1 : undefined}
      onClick={onClick}
      onAuxClick={onClick}
      className={cn(
        "data-table",
        isLong ? "long-rows" : props.isFixed && "fixed-columns",
        placeholderText && "grouped-rows",
        hasCustomWidths(sizing) && "cut-cells",
        props.isCompact && "compact-rows",
        onClick && "pressable",
        props.className,
      )}
    >
      <caption className="sr-only">{caption}</caption>
      <TableHead table={table} sorting={sorting} sizing={sizing} isLong={isLong} />
      {placeholderText ? (
        <GroupedBody element={element} rows={rows} appearance={appearance} firstIndex={firstIndex} placeholderText={placeholderText} />
      ) : (
        <PlainBody rows={rows} appearance={appearance} firstIndex={firstIndex} />
      )}
    </table>
  );
}

function hasCustomWidths(sizing: Sizing | undefined): boolean {
  return sizing !== undefined && Object.keys(sizing.widths).length > 0;
}

type TableBodyProps<Row extends RowData> = {
  rows: readonly Row[];
  appearance: RowAppearance<Row>;
  /** The index of the first row in the whole list. */
  firstIndex: number;
};

function PlainBody<Row extends RowData>({ rows, appearance, firstIndex }: TableBodyProps<Row>) {
  return <tbody>{rows.map((row, index) => renderRow(row, appearance, firstIndex + index))}</tbody>;
}

type GroupedBodyProps<Row extends RowData> = TableBodyProps<Row> & {
  element: RefObject<HTMLTableElement | null>;
  placeholderText: (row: Row) => string;
};

/** Rows near the viewport are complete, the others plain text. Scrolling renders only groups of rows. */
function GroupedBody<Row extends RowData>({ element, rows, appearance, firstIndex, placeholderText }: GroupedBodyProps<Row>) {
  const groupedRows = useGroupedRows(rows, appearance.rowId);
  const rowWindow = useRowWindow(element, groupedRows);
  return groupedRows.groups.map((group) => (
    <GroupRows
      key={group.key}
      group={group}
      rowWindow={rowWindow}
      appearance={appearance}
      placeholderText={placeholderText}
      firstIndex={firstIndex}
    />
  ));
}

function useGroupedRows<Row>(rows: readonly Row[], getId: (row: Row) => string): GroupedRows<Row> {
  const [groups, setGroups] = useState(() => groupRows(rows, getId));
  if (groups.rows === rows) return groups;
  const updatedGroups = groupRows(rows, getId, groups);
  setGroups(updatedGroups);
  return updatedGroups;
}

/**
 * The keys j and k move between rows, as do the arrow keys on a focused row. Shift extends the selection, x toggles the row and Enter opens it.
 * Ignored while typing.
 */
function useRowKeys(table: RefObject<HTMLTableElement | null>): void {
  usePageKey((event) => {
    if (!isShortcutKey(event)) return;
    const rows = [...(table.current?.querySelectorAll<HTMLElement>("tbody tr[data-row]") ?? [])];
    const focusedIndex = rows.findIndex((row) => row.contains(document.activeElement));
    const key = event.key.toLowerCase();
    const step = getRowStep(key, focusedIndex >= 0 && document.activeElement?.matches("a, input") === true);
    if (step !== undefined) {
      const nextRow = focusedIndex < 0 ? rows[findFirstVisibleIndex(rows)] : findAdjacentRow(rows, focusedIndex, step);
      if (event.shiftKey) for (const row of [rows[focusedIndex], nextRow]) toggleRow(row, true);
      const link = nextRow?.querySelector<HTMLElement>("a[href]");
      link?.focus({ preventScroll: true });
      // Scrolls it back into view if the page was scrolled far away.
      (nextRow ?? rows[focusedIndex])?.scrollIntoView?.({ block: "nearest" });
    } else if (key === "x" && focusedIndex >= 0) {
      toggleRow(rows[focusedIndex]);
    } else return;
    event.preventDefault();
  });
}

/** Outside a row, the arrow keys scroll the page or move within a menu. */
function getRowStep(key: string, isOnRow: boolean): 1 | -1 | undefined {
  if (key === "j" || (key === "arrowdown" && isOnRow)) return 1;
  return key === "k" || (key === "arrowup" && isOnRow) ? -1 : undefined;
}

/** The next row in the list; undefined if it is not rendered. */
function findAdjacentRow(rows: readonly HTMLElement[], index: number, step: 1 | -1): HTMLElement | undefined {
  const getRowIndex = (row: HTMLElement | undefined) => Number(row?.getAttribute("aria-rowindex"));
  const adjacentRow = rows[index + step];
  const adjacentIndex = getRowIndex(adjacentRow);
  return adjacentIndex === 0 || adjacentIndex === getRowIndex(rows[index]) + step ? adjacentRow : undefined;
}

function findFirstVisibleIndex(rows: readonly HTMLElement[]): number {
  const index = rows.findIndex((row) => row.getBoundingClientRect().top >= 0);
  return Math.max(0, index);
}

function toggleRow(row: HTMLElement | undefined, isSelected?: boolean): void {
  const checkbox = row?.querySelector<HTMLInputElement>('input[type="checkbox"]');
  if (checkbox && (isSelected === undefined || checkbox.checked !== isSelected)) checkbox.click();
}
