import {
  type Cell,
  type CellContext,
  type Column,
  constructCell,
  constructRow,
  type ReactTable,
  type Row as ModelRow,
  type RowData,
} from "@tanstack/react-table";
import { type CSSProperties, type ReactNode } from "react";
import { bodyCellStyle } from "./cell-style";
import { type Features, type Sizing } from "./features";

/** A column's part of each of its cells, computed once for all of them. */
type DrawnColumn<Row extends RowData> = {
  id: string;
  draw: (row: ModelRow<Features, Row>) => ReactNode;
  className: string | undefined;
  style: CSSProperties | undefined;
};
export type Drawn<Row extends RowData> = {
  columns: readonly DrawnColumn<Row>[];
  modelOf: (row: Row, id: string) => ModelRow<Features, Row>;
};

/** `isLong`: cells have widths of their own and do not take them from the header. */
export function drawnColumns<Row extends RowData>(
  table: ReactTable<Features, Row>,
  columns: readonly Column<Features, Row, unknown>[],
  isLong: boolean,
  widths: Sizing["widths"] | undefined,
): Drawn<Row> {
  return {
    modelOf: (row, id) => constructRow(table, id, row, 0, 0),
    columns: columns.map((column) => {
      const { cell: draw, meta } = column.columnDef;
      return {
        id: column.id,
        draw: (row) => (typeof draw === "function" ? draw(contextOf(table, column, row)) : draw),
        className: bodyCellStyle(meta, isLong),
        style: isLong ? ownWidth(widths?.[column.id]) : undefined,
      };
    }),
  };
}

/** A width set by a person neither grows nor shrinks. */
export function ownWidth(px: number | undefined): CSSProperties | undefined {
  return px === undefined ? undefined : { width: px, flex: "none" };
}

/** What the library passes to a cell. Its cell object is created only when read: creating them all would be a good part of a row's work. */
function contextOf<Row extends RowData>(
  table: ReactTable<Features, Row>,
  column: Column<Features, Row, unknown>,
  row: ModelRow<Features, Row>,
): CellContext<Features, Row, unknown> {
  const getValue = <Value>() => row.getValue<Value>(column.id);
  return {
    table,
    column,
    row,
    getValue,
    renderValue: getValue,
    get cell(): Cell<Features, Row, unknown> {
      return constructCell(column, row, table);
    },
  };
}
