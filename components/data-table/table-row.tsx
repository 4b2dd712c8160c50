"use client";

import { type ColumnDef, type ReactTable, type Row as ModelRow, type RowData } from "@tanstack/react-table";
import { memo } from "react";
import { bodyCellStyle } from "./cell-style";
import { type Features } from "./features";

type TableRowProps<Row extends RowData> = {
  row: ModelRow<Features, Row>;
  /** What the cells are made by: another list draws the row anew. */
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- see DataTable
  columns: ColumnDef<Features, Row, any>[];
  render: ReactTable<Features, Row>["FlexRender"];
  /** Its place in the whole table, where only a part of it is drawn. */
  index: number | undefined;
  isBusy: boolean;
  isSelected: boolean;
};

/** Drawn again only when what it shows is another: a poll that changes one of a thousand rows draws one. */
export const TableRow = memo(
  TableRowView,
  (a, b) =>
    a.row.original === b.row.original &&
    a.columns === b.columns &&
    a.index === b.index &&
    a.isBusy === b.isBusy &&
    a.isSelected === b.isSelected,
) as typeof TableRowView;

function TableRowView<Row extends RowData>({ row, render: Render, index, isBusy, isSelected }: TableRowProps<Row>) {
  return (
    <tr data-row={row.id} aria-rowindex={index} aria-busy={isBusy || undefined} data-selected={isSelected || undefined} className="group">
      {row.getAllCells().map((cell) => (
        <td key={cell.id} className={bodyCellStyle(cell.column.columnDef.meta)}>
          <Render cell={cell} />
        </td>
      ))}
    </tr>
  );
}
