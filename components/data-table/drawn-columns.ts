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

/** What a column adds to each of its cells, found once for all of them. */
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

/** `isLong`: cells have their widths from themselves and not from the header above them. */
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

/** Nothing grows or shrinks what a person gave a width. */
export function ownWidth(px: number | undefined): CSSProperties | undefined {
  return px === undefined ? undefined : { width: px, flex: "none" };
}

/** What the library hands to a cell. Its own cell is made where a person reads it: to make them all would be a good part of a row's work. */
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
