"use client";

import { type Cell, type ColumnDef, type Row as ModelRow, type RowData } from "@tanstack/react-table";
import { memo, type ReactNode, useMemo, useSyncExternalStore } from "react";
import { bodyCellStyle } from "./cell-style";
import { type Features } from "./features";

/** Which rows stand out, outside of React's state. */
export type RowMarks = { subscribe: (listener: () => void) => () => void; has: (id: string) => boolean };

type TableRowProps<Row extends RowData> = {
  row: ModelRow<Features, Row>;
  /** What the cells are made by: another list draws the row anew. */
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- see DataTable
  columns: ColumnDef<Features, Row, any>[];
  /** Its place in the whole table, where only a part of it is drawn. */
  index: number | undefined;
  isBusy: boolean;
  isSelected: boolean;
  marks: RowMarks | undefined;
};

/** Drawn again only when what it shows is another: a poll that changes one of a thousand rows draws one. */
export const TableRow = memo(
  TableRowView,
  (a, b) =>
    a.row.original === b.row.original &&
    a.columns === b.columns &&
    a.index === b.index &&
    a.isBusy === b.isBusy &&
    a.isSelected === b.isSelected &&
    a.marks === b.marks,
) as typeof TableRowView;

function TableRowView<Row extends RowData>({ row, columns, index, isBusy, isSelected, marks }: TableRowProps<Row>) {
  const isMarked = useSyncExternalStore(marks?.subscribe ?? never, () => marks?.has(row.id) ?? false, no);
  const { original } = row;
  // A mark that comes or goes draws the row's edge, not its cells.
  const cells = useMemo(
    () => row.getAllCells().map(cellOf),
    // eslint-disable-next-line react-hooks/exhaustive-deps -- the model's row is another object with every answer; these are what its cells depend on
    [original, columns],
  );
  return (
    <tr
      data-row={row.id}
      aria-rowindex={index}
      aria-busy={isBusy || undefined}
      data-selected={isSelected || isMarked || undefined}
      className="group"
    >
      {cells}
    </tr>
  );
}

/** The column's function is called, not mounted: a component for each cell would be half of a row's work. */
function cellOf<Row extends RowData>(cell: Cell<Features, Row, unknown>): ReactNode {
  const { cell: draw, meta } = cell.column.columnDef;
  return (
    <td key={cell.id} className={bodyCellStyle(meta)}>
      {typeof draw === "function" ? draw(cell.getContext()) : draw}
    </td>
  );
}

const no = () => false;
const never = () => () => undefined;
