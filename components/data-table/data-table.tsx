// The library provides the columns and the header. Rows, selection and the window over a long list are ours, measured with 1,000 rows of
// Jobs (React's production build in jsdom, medians of five pairs of runs on a busy machine): the library's rows and cells take 1.5 times as
// long to render (1.25 to 1.7), and twice as long when an answer changes one row (1.4 to 2.8), since each cell is a component. Its
// virtualiser is 10.4 kB gzip against 2.1 kB here, leaves no text for the browser's own search, and Jobs has no kB to spare. The selection
// is shared with the gallery, and also covers all matching rows on other pages.

import { type ColumnDef, type RowData, useTable } from "@tanstack/react-table";
import { memo, type MouseEvent, type RefObject, useCallback, useMemo, useRef, useState, useSyncExternalStore } from "react";
import { cn } from "@/components/ui/cn";
import { isFreeKey, usePageKey } from "@/components/ui/hooks/page-keys";
import { type Features, features, type Sizing, type Sorting, toCellColumns } from "./table-columns";
import { drawRow, type RowLook, type RowMarks, TableHead } from "./table-rows";
import { type Grouped, groupRows, type RowGroup, type RowWindow, useRowWindow } from "./use-row-window";

type RowsOfProps<Row extends RowData> = {
  group: RowGroup<Row>;
  rowWindow: RowWindow;
  look: RowLook<Row>;
  placeholderText: (row: Row) => string;
  /** Where the list's rows begin in a longer one. */
  listFirst: number;
};

/** A group of rows: complete near the screen, plain text elsewhere, in the same height. */
const RowsOf = memo(RowsOfView) as typeof RowsOfView;

function RowsOfView<Row extends RowData>({ group, rowWindow, look, placeholderText, listFirst }: RowsOfProps<Row>) {
  const { key, first, offset, rows } = group;
  const subscribe = useCallback((listener: () => void) => rowWindow.subscribe(key, listener), [rowWindow, key]);
  const span = useSyncExternalStore(
    subscribe,
    () => rowWindow.spanOf(key),
    () => rowWindow.firstSpanOf(key),
  );
  const from = Math.max(0, span.from - offset);
  const to = Math.max(from, Math.min(rows.length, span.to - offset));
  const { isLong } = look;
  return (
    <tbody
      data-group={key}
      role={isLong ? (from < to ? "rowgroup" : "none") : undefined}
      style={isLong ? { height: heightOf(rows.length) } : undefined}
    >
      {from > 0 ? <PlaceholderRows rows={rows.slice(0, from)} placeholderText={placeholderText} /> : null}
      {rows.slice(from, to).map((row, at) => drawRow(row, look, listFirst + first + from + at))}
      {to < rows.length ? <PlaceholderRows rows={rows.slice(to)} placeholderText={placeholderText} /> : null}
    </tbody>
  );
}

const heightOf = (count: number) => `calc(var(--row-height) * ${count})`;

type PlaceholderRowsProps<Row> = { rows: readonly Row[]; placeholderText: (row: Row) => string };

/** Plain text replaces the rows during fast scrolling, and serves the browser's own search. The stylesheet skips text far from view. */
function PlaceholderRows<Row>({ rows, placeholderText }: PlaceholderRowsProps<Row>) {
  return (
    <tr role="none" className="light-rows">
      {/* A single cell: a column span would show columns again, empty, that a narrow screen hides. */}
      <td role="none" className="whole-cell">
        <div aria-hidden="true" style={{ height: heightOf(rows.length) }}>
          {rows.map(placeholderText).join("\n")}
        </div>
      </td>
    </tr>
  );
}

type DataTableProps<Row extends RowData> = {
  /** Read by screen readers before the table; not visible. */
  caption: string;
  // The library's own type of a list of columns whose values differ.
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- ColumnDef is invariant in its value; the library types column lists this way itself
  columns: ColumnDef<Features, Row, any>[];
  rows: readonly Row[];
  rowId: (row: Row) => string;
  isSelected?: (row: Row) => boolean;
  /** Replaces `isSelected` in long lists: a row whose mark changes renders itself, without the table. */
  marks?: RowMarks;
  isBusy?: (row: Row) => boolean;
  /** The text of a row. If set, rows far from view render as plain text: fast, and still found by the browser's search. */
  placeholderText?: (row: Row) => string;
  /** `rows` are a part of a longer list, whose other rows are not here at all. */
  part?: { first: number; total: number };
  /** A click anywhere in the rows, with any button; one listener for all rows. */
  onClick?: (event: MouseEvent<HTMLElement>) => void;
  sorting?: Sorting;
  sizing?: Sizing;
  /** Column widths do not depend on the content. All looks but one must then have a width. */
  isFixed?: boolean;
  isCompact?: boolean;
  className?: string;
};

const noRows: never[] = [];

/** Rows keep their identity across responses (`rowId`), so a response changes cells but never scroll or focus. */
export function DataTable<Row extends RowData>(props: DataTableProps<Row>) {
  const { caption, columns, rows, rowId, isSelected, marks, isBusy, placeholderText, part, onClick, sorting, sizing } = props;
  const element = useRef<HTMLTableElement>(null);
  useRowKeys(element);
  // The library gets no rows: they are created where they are rendered.
  const table = useTable<Features, Row>({ features, columns, data: noRows, getRowId: rowId });
  const isLong = placeholderText !== undefined && props.isFixed === true;
  const leaves = table.getAllLeafColumns();
  const widths = sizing?.widths;
  const cellColumns = useMemo(() => toCellColumns(table, leaves, isLong, widths), [table, leaves, isLong, widths]);
  const isPart = part !== undefined || placeholderText !== undefined;
  const look = useMemo(
    () => ({ rowId, cellColumns, isBusy, isSelected, marks, isLong, isPart }),
    [rowId, cellColumns, isBusy, isSelected, marks, isLong, isPart],
  );
  const listFirst = part?.first ?? 0;
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
        hasWidths(sizing) && "cut-cells",
        props.isCompact && "compact-rows",
        onClick && "pressable",
        props.className,
      )}
    >
      <caption className="sr-only">{caption}</caption>
      <TableHead table={table} sorting={sorting} sizing={sizing} isLong={isLong} />
      {placeholderText ? (
        <GroupedBody element={element} rows={rows} look={look} listFirst={listFirst} placeholderText={placeholderText} />
      ) : (
        <PlainBody rows={rows} look={look} listFirst={listFirst} />
      )}
    </table>
  );
}

function hasWidths(sizing: Sizing | undefined): boolean {
  return sizing !== undefined && Object.keys(sizing.widths).length > 0;
}

type TableBodyProps<Row extends RowData> = {
  rows: readonly Row[];
  look: RowLook<Row>;
  /** Where `rows` begin in a longer list. */
  listFirst: number;
};

function PlainBody<Row extends RowData>({ rows, look, listFirst }: TableBodyProps<Row>) {
  return <tbody>{rows.map((row, at) => drawRow(row, look, listFirst + at))}</tbody>;
}

type GroupedBodyProps<Row extends RowData> = TableBodyProps<Row> & {
  element: RefObject<HTMLTableElement | null>;
  placeholderText: (row: Row) => string;
};

/** Rows near the screen are complete, the others plain text. Scrolling renders groups of rows and nothing else of the page. */
function GroupedBody<Row extends RowData>({ element, rows, look, listFirst, placeholderText }: GroupedBodyProps<Row>) {
  const grouped = useGrouped(rows, look.rowId);
  const rowWindow = useRowWindow(element, grouped);
  return grouped.groups.map((group) => (
    <RowsOf key={group.key} group={group} rowWindow={rowWindow} look={look} placeholderText={placeholderText} listFirst={listFirst} />
  ));
}

function useGrouped<Row>(rows: readonly Row[], idOf: (row: Row) => string): Grouped<Row> {
  const [groups, setGroups] = useState(() => groupRows(rows, idOf));
  if (groups.rows === rows) return groups;
  const next = groupRows(rows, idOf, groups);
  setGroups(next);
  return next;
}

/**
 * j and k, and on a row the arrows, move from row to row, and select with Shift; x selects the row; Enter opens it, as the focus is on its
 * link. Ignored while a person types.
 */
function useRowKeys(table: RefObject<HTMLTableElement | null>): void {
  usePageKey((event) => {
    if (!isFreeKey(event)) return;
    const rows = [...(table.current?.querySelectorAll<HTMLElement>("tbody tr[data-row]") ?? [])];
    const focusedIndex = rows.findIndex((row) => row.contains(document.activeElement));
    const key = event.key.toLowerCase();
    const by = stepOf(key, focusedIndex >= 0 && document.activeElement?.matches("a, input") === true);
    if (by !== undefined) {
      const next = focusedIndex < 0 ? rows[firstInView(rows)] : neighbourIndex(rows, focusedIndex, by);
      if (event.shiftKey) for (const row of [rows[focusedIndex], next]) choose(row, true);
      const link = next?.querySelector<HTMLElement>("a[href]");
      link?.focus({ preventScroll: true });
      // Scrolls it back into view if the page was scrolled far away.
      (next ?? rows[focusedIndex])?.scrollIntoView?.({ block: "nearest" });
    } else if (key === "x" && focusedIndex >= 0) {
      choose(rows[focusedIndex]);
    } else return;
    event.preventDefault();
  });
}

/** Elsewhere an arrow scrolls the page, or moves within a row's menu. */
function stepOf(key: string, isOnRow: boolean): 1 | -1 | undefined {
  if (key === "j" || (key === "arrowdown" && isOnRow)) return 1;
  return key === "k" || (key === "arrowup" && isOnRow) ? -1 : undefined;
}

/** The next row in the list, which is not rendered while it is far from view. */
function neighbourIndex(rows: readonly HTMLElement[], index: number, by: 1 | -1): HTMLElement | undefined {
  const placeOf = (row: HTMLElement | undefined) => Number(row?.getAttribute("aria-rowindex"));
  const next = rows[index + by];
  return placeOf(next) === 0 || placeOf(next) === placeOf(rows[index]) + by ? next : undefined;
}

function firstInView(rows: readonly HTMLElement[]): number {
  const at = rows.findIndex((row) => row.getBoundingClientRect().top >= 0);
  return Math.max(0, at);
}

function choose(row: HTMLElement | undefined, isSelected?: boolean): void {
  const box = row?.querySelector<HTMLInputElement>('input[type="checkbox"]');
  if (box && (isSelected === undefined || box.checked !== isSelected)) box.click();
}
