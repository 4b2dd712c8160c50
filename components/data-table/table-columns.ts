import {
  type Cell,
  type CellContext,
  type Column,
  constructCell,
  constructRow,
  createColumnHelper,
  type ReactTable,
  type Row as ModelRow,
  type RowData,
  tableFeatures,
} from "@tanstack/react-table";
import { type CSSProperties, type ReactNode } from "react";
import { cn } from "@/components/ui/cn";

/** How a column looks, independent of its content. */
export type ColumnLook = {
  align?: "end";
  /** Tailwind classes of the header, which sets the column's width. */
  width?: string;
  /** Tailwind classes of header and cells: from which screen width on the column is shown. */
  shown?: string;
  /** The header is for screen readers only. */
  hiddenHeader?: true;
  /** Its width follows from its content and cannot be changed. */
  isRigid?: true;
};

const columnMeta: ColumnLook = {};

/** Only used features are in the bundle: the service sorts, filters and pages. */
export const features = tableFeatures({ columnMeta });
export type Features = typeof features;

export function columnsFor<Row extends RowData>() {
  return createColumnHelper<Features, Row>();
}

/** By column: its present sort direction, if any, and what a click on its header does. */
export type Sorting = Readonly<Record<string, { direction?: "asc" | "desc"; onSort: () => void }>>;

/** Widths set by a person, in pixels; `label` names a column's handle, `usual` is read out for a column without a set width. */
export type Sizing = {
  widths: Readonly<Record<string, number>>;
  onResize: (id: string, px: number) => void;
  label: (id: string) => string;
  usual: string;
};

/** The common style of cells is in the stylesheet, under the table's class; this adds only what differs by column. */
export function headCellStyle(look: ColumnLook | undefined, isLong = false): string | undefined {
  return cn(look?.align, look?.shown, widthOf(look, isLong)) || undefined;
}

export function bodyCellStyle(look: ColumnLook | undefined, isLong = false): string | undefined {
  return cn(look?.align, look?.shown, isLong && widthOf(look, isLong)) || undefined;
}

function widthOf(look: ColumnLook | undefined, isLong: boolean): string | undefined {
  if (!isLong) return look?.width;
  return cn(look?.width ?? "takes-rest", look?.isRigid && "grow-0");
}

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
