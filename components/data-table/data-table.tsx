"use client";

import { type ColumnDef, type RowData, useTable } from "@tanstack/react-table";
import { useRef } from "react";
import { cn } from "@/components/ui/cn";
import { features, type Features, type Sizing, type Sorting } from "./features";
import { TableHead } from "./table-head";
import { TableRow } from "./table-row";
import { LightRows } from "./light-rows";
import { useRowKeys } from "./use-row-keys";
import { CHUNK, useWindow } from "./use-window";

type DataTableProps<Row extends RowData> = {
  /** Read out before the table; not shown. */
  caption: string;
  // The library's own type of a list of columns whose values differ.
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- ColumnDef is invariant in its value; the library types column lists this way itself
  columns: ColumnDef<Features, Row, any>[];
  rows: readonly Row[];
  rowId: (row: Row) => string;
  isSelected?: (row: Row) => boolean;
  /** An act on this row is under way. */
  isBusy?: (row: Row) => boolean;
  /** The words of a row. With them, rows far from view stand as text alone: quick, and still found by the browser's own search. */
  lightText?: (row: Row) => string;
  sorting?: Sorting;
  sizing?: Sizing;
  /** Columns keep their widths whatever they hold. Each look then has a width but one. */
  isFixed?: boolean;
  isCompact?: boolean;
  className?: string;
};

/** Rows keep their identity over polls (`rowId`), so that a new answer changes cells and never scroll or focus. */
export function DataTable<Row extends RowData>(props: DataTableProps<Row>) {
  const { caption, columns, rows, rowId, isSelected, isBusy, lightText, sorting, sizing, isFixed, isCompact, className } = props;
  const element = useRef<HTMLTableElement>(null);
  useRowKeys(element);
  const table = useTable({ features, columns, data: rows, getRowId: rowId });
  const { from, to } = useWindow(element, rows.length, lightText !== undefined);
  const model = table.getRowModel().rows;
  const light = (first: number, last: number) =>
    lightText
      ? chunksBetween(first, last).map((at) => (
          <LightRows key={`light-${at}`} rows={rows.slice(at, Math.min(at + CHUNK, last))} textOf={lightText} />
        ))
      : null;
  return (
    <table
      ref={element}
      aria-rowcount={lightText ? rows.length + 1 : undefined}
      className={cn("data-table", isFixed && "fixed-columns", isCompact && "compact-rows", className)}
    >
      <caption className="sr-only">{caption}</caption>
      <TableHead table={table} sorting={sorting} sizing={sizing} />
      <tbody>
        {light(0, from)}
        {model.slice(from, to).map((row, index) => (
          <TableRow
            key={row.id}
            row={row}
            columns={columns}
            render={table.FlexRender}
            index={lightText ? from + index + 2 : undefined}
            isBusy={isBusy?.(row.original) ?? false}
            isSelected={isSelected?.(row.original) ?? false}
          />
        ))}
        {light(Math.min(to, rows.length), rows.length)}
      </tbody>
    </table>
  );
}

function chunksBetween(first: number, last: number): number[] {
  return Array.from({ length: Math.ceil((last - first) / CHUNK) }, (_, index) => first + index * CHUNK);
}
