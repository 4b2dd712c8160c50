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

export type ColumnStyle = {
  align?: "end";
  /** Tailwind classes of the column's width. */
  width?: string;
  /** Tailwind classes for the screen widths at which the column is shown. */
  visibility?: string;
  /** The header is for screen readers only. */
  hiddenHeader?: true;
  isFixedWidth?: true;
};

const columnMeta: ColumnStyle = {};

/** Only used features are in the bundle: the service sorts, filters and paginates. */
export const features = tableFeatures({ columnMeta });
export type Features = typeof features;

export function createColumns<Row extends RowData>() {
  return createColumnHelper<Features, Row>();
}

/** The current sort direction and the click handler of each sortable column. */
export type Sorting = Readonly<Record<string, { direction?: "asc" | "desc"; onSort: () => void }>>;

/** Widths set by the user, in pixels. `getLabel` returns the label of a column's handle. `defaultWidth` is announced for columns without a set width. */
export type Sizing = {
  widths: Readonly<Record<string, number>>;
  onResize: (id: string, px: number) => void;
  getLabel: (id: string) => string;
  defaultWidth: string;
};

/** Returns the column's own classes. The common style is in the stylesheet. */
export function getHeadCellClass(columnStyle: ColumnStyle | undefined, isLong = false): string | undefined {
  return cn(columnStyle?.align, columnStyle?.visibility, getWidthClass(columnStyle, isLong)) || undefined;
}

function getBodyCellClass(columnStyle: ColumnStyle | undefined, isLong = false): string | undefined {
  return cn(columnStyle?.align, columnStyle?.visibility, isLong && getWidthClass(columnStyle, isLong)) || undefined;
}

function getWidthClass(columnStyle: ColumnStyle | undefined, isLong: boolean): string | undefined {
  if (!isLong) return columnStyle?.width;
  return cn(columnStyle?.width ?? "takes-rest", columnStyle?.isFixedWidth && "grow-0");
}

/** The parts of a column's cells that are the same in each row. */
type CellColumn<Row extends RowData> = {
  id: string;
  renderCell: (row: ModelRow<Features, Row>) => ReactNode;
  className: string | undefined;
  style: CSSProperties | undefined;
};
export type CellColumns<Row extends RowData> = {
  columns: readonly CellColumn<Row>[];
  createModel: (row: Row, id: string) => ModelRow<Features, Row>;
};

/** `isLong`: cells have explicit widths, since they don't get them from the header. */
export function toCellColumns<Row extends RowData>(
  table: ReactTable<Features, Row>,
  columns: readonly Column<Features, Row, unknown>[],
  isLong: boolean,
  widths: Sizing["widths"] | undefined,
): CellColumns<Row> {
  return {
    createModel: (row, id) => constructRow(table, id, row, 0, 0),
    columns: columns.map((column) => {
      const { cell, meta } = column.columnDef;
      return {
        id: column.id,
        renderCell: (row) => (typeof cell === "function" ? cell(createCellContext(table, column, row)) : cell),
        className: getBodyCellClass(meta, isLong),
        style: isLong ? toWidthStyle(widths?.[column.id]) : undefined,
      };
    }),
  };
}

export function toWidthStyle(px: number | undefined): CSSProperties | undefined {
  return px === undefined ? undefined : { width: px, flex: "none" };
}

/** The context that the library passes to a cell. Cell objects are created lazily, because creating them is the slowest part of rendering a row. */
function createCellContext<Row extends RowData>(
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
