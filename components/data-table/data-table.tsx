"use client";

import { type ColumnDef, type RowData, useTable } from "@tanstack/react-table";
import { useRef } from "react";
import { cn } from "@/components/ui/cn";
import { features, type Features } from "./features";
import { useRowKeys } from "./use-row-keys";
import { bodyCellStyle, headCellStyle } from "./cell-style";

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
  className?: string;
};

/** Rows keep their identity over polls (`rowId`), so that a new answer changes cells and never scroll or focus. */
export function DataTable<Row extends RowData>({ caption, columns, rows, rowId, isSelected, isBusy, className }: DataTableProps<Row>) {
  const element = useRef<HTMLTableElement>(null);
  useRowKeys(element);
  const table = useTable({ features, columns, data: rows, getRowId: rowId });
  return (
    <table ref={element} className={cn("data-table", className)}>
      <caption className="sr-only">{caption}</caption>
      <thead>
        {table.getHeaderGroups().map((group) => (
          <tr key={group.id}>
            {group.headers.map((header) => (
              <th key={header.id} scope="col" className={headCellStyle(header.column.columnDef.meta)}>
                <span className={header.column.columnDef.meta?.hiddenHeader ? "sr-only" : undefined}>
                  <table.FlexRender header={header} />
                </span>
              </th>
            ))}
          </tr>
        ))}
      </thead>
      <tbody>
        {table.getRowModel().rows.map((row) => (
          <tr
            key={row.id}
            data-row={row.id}
            aria-busy={isBusy?.(row.original) || undefined}
            data-selected={isSelected?.(row.original) || undefined}
            className="group"
          >
            {row.getAllCells().map((cell) => (
              <td key={cell.id} className={bodyCellStyle(cell.column.columnDef.meta)}>
                <table.FlexRender cell={cell} />
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}
