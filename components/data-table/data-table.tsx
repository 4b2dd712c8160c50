"use client";

import { type ColumnDef, type RowData, useTable } from "@tanstack/react-table";
import { type MouseEvent, useRef } from "react";
import { cn } from "@/components/ui/cn";
import { features, type Features, type Sizing, type Sorting } from "./features";
import { TableBody } from "./table-body";
import { TableHead } from "./table-head";
import { type RowMarks } from "./table-row";
import { useRowKeys } from "./use-row-keys";

type DataTableProps<Row extends RowData> = {
  /** Read out before the table; not shown. */
  caption: string;
  // The library's own type of a list of columns whose values differ.
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- ColumnDef is invariant in its value; the library types column lists this way itself
  columns: ColumnDef<Features, Row, any>[];
  rows: readonly Row[];
  rowId: (row: Row) => string;
  isSelected?: (row: Row) => boolean;
  /** Instead of `isSelected`, for lists whose rows are many: a row that is marked draws itself, and the table nothing. */
  marks?: RowMarks;
  /** An act on this row is under way. */
  isBusy?: (row: Row) => boolean;
  /** The words of a row. With them, rows far from view stand as text alone: quick, and still found by the browser's own search. */
  lightText?: (row: Row) => string;
  /** `rows` are a part of a longer list, whose other rows are not here at all. */
  part?: { first: number; total: number };
  /** A press anywhere in the rows, of any button; one listener serves them all. */
  onPress?: (event: MouseEvent<HTMLElement>) => void;
  sorting?: Sorting;
  sizing?: Sizing;
  /** Columns keep their widths whatever they hold. Each look then has a width but one. */
  isFixed?: boolean;
  isCompact?: boolean;
  className?: string;
};

/** Rows keep their identity over polls (`rowId`), so that a new answer changes cells and never scroll or focus. */
export function DataTable<Row extends RowData>(props: DataTableProps<Row>) {
  const { caption, columns, rows, rowId, lightText, part, sorting, sizing, isFixed, isCompact, className, ...ofRows } = props;
  const element = useRef<HTMLTableElement>(null);
  useRowKeys(element);
  const table = useTable({ features, columns, data: rows, getRowId: rowId });
  return (
    <table
      ref={element}
      aria-rowcount={part ? part.total + 1 : lightText ? rows.length + 1 : undefined}
      className={cn(
        "data-table",
        isFixed && "fixed-columns",
        hasWidths(sizing) && "cut-cells",
        isCompact && "compact-rows",
        props.onPress && "pressable",
        className,
      )}
    >
      <caption className="sr-only">{caption}</caption>
      <TableHead table={table} sorting={sorting} sizing={sizing} />
      <TableBody
        element={element}
        model={table.getRowModel().rows}
        rows={rows}
        columns={columns}
        lightText={lightText}
        firstRow={part?.first}
        {...ofRows}
      />
    </table>
  );
}

function hasWidths(sizing: Sizing | undefined): boolean {
  return sizing !== undefined && Object.keys(sizing.widths).length > 0;
}
